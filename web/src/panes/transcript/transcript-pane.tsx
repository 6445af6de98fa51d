import { useSignal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { ProblemBar } from '../problem-bar.tsx';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import type { Draft } from './draft.ts';
import { MessageList } from './message-list.tsx';

/** How full the context is, beside the title: on a narrow screen the inspector is another pane. */
function SlimGauge({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const context = conversation.context.value;
  if (!context) return null;
  const limit = context.thresholdTokens ?? context.windowTokens;
  const share = context.tokens / limit;
  const { panes } = app.texts.value;
  return (
    <button
      type="button"
      class="slim-gauge"
      title={panes.inspector}
      aria-label={`${panes.inspector}: ${app.figures.value.percent(share)}`}
      onClick={() => (app.pane.value = 'inspector')}
    >
      <span class="slim-gauge-bar" aria-hidden="true">
        <span style={{ width: `${100 * Math.min(1, share)}%` }} />
      </span>
      <span class="figure">{app.figures.value.percent(share)}</span>
    </button>
  );
}

export function TranscriptPane({
  app,
  conversation,
}: {
  app: App;
  conversation: OpenConversation;
}) {
  const texts = app.texts.value;
  const { view, answers, id } = conversation;
  const isNew = view.value === undefined && answers.live.value.length === 0;
  const { new: newChat, untitled } = texts.conversations;
  const title = app.nameOf({ id, title: view.value?.title }) ?? (isNew ? newChat : untitled);
  const draft: Draft = { text: useSignal(''), edited: useSignal(undefined) };
  return (
    <main class="pane transcript" aria-label={texts.panes.transcript}>
      <header class="transcript-head">
        <h2>{title}</h2>
        <SlimGauge app={app} conversation={conversation} />
      </header>
      <MessageList app={app} conversation={conversation} draft={draft} />
      <Announcer app={app} conversation={conversation} />
      <ProblemBar app={app} problem={conversation.problem} />
      <Composer app={app} conversation={conversation} draft={draft} />
    </main>
  );
}
