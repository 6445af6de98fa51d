import type { ConversationProps } from '#web/state/app.ts';
import { Button, ProblemBar } from '../controls.tsx';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { MessageList } from './message-list.tsx';

/** How full the context is, beside the title: on a narrow screen the inspector is another pane. */
function SlimGauge({ app, conversation }: ConversationProps) {
  const context = conversation.context.value;
  if (!context) return null;
  const limit = context.thresholdTokens ?? context.windowTokens;
  const share = context.tokens / limit;
  const { panes } = app.texts.value;
  return (
    <Button
      class="slim-gauge"
      title={panes.inspector}
      aria-label={`${panes.inspector}: ${app.figures.value.percent(share)}`}
      onClick={() => (app.pane.value = 'inspector')}
    >
      <span class="slim-gauge-bar" aria-hidden="true">
        <span style={{ width: `${100 * Math.min(1, share)}%` }} />
      </span>
      <span class="figure">{app.figures.value.percent(share)}</span>
    </Button>
  );
}

export function TranscriptPane({ app, conversation }: ConversationProps) {
  const texts = app.texts.value;
  const { view, answers, id } = conversation;
  const isNew = view.value === undefined && answers.live.value.length === 0;
  const { new: newChat, untitled } = texts.conversations;
  const title = app.nameOf({ id, title: view.value?.title }) ?? (isNew ? newChat : untitled);
  return (
    <main class="pane transcript" aria-label={texts.panes.transcript}>
      <header class="transcript-head">
        <h2>{title}</h2>
        <SlimGauge app={app} conversation={conversation} />
      </header>
      <MessageList app={app} conversation={conversation} />
      <Announcer app={app} conversation={conversation} />
      <ProblemBar app={app} problem={conversation.problem} />
      <Composer app={app} conversation={conversation} />
    </main>
  );
}
