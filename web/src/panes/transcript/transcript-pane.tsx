import { percent } from '#web/figures.ts';
import type { ConversationProps } from '#web/state/app.ts';
import { Button, ProblemBar } from '../controls.tsx';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { MessageList } from './message-list.tsx';

/** How full the context is, beside the title: on a narrow screen the context is another pane. */
function ContextShare({ app, conversation }: ConversationProps) {
  const context = conversation.context.value;
  if (!context) return null;
  const share = context.tokens / (context.thresholdTokens ?? context.windowTokens);
  return (
    <Button
      class="button context-share figure"
      text={percent(share)}
      aria-label={`Context: ${percent(share)}`}
      onClick={() => (app.pane.value = 'context')}
    />
  );
}

export function TranscriptPane({ app, conversation }: ConversationProps) {
  const { view, answers, id } = conversation;
  const isNew = view.value === undefined && answers.live.value.length === 0;
  const title = app.nameOf({ id, title: view.value?.title }) ?? (isNew ? 'New chat' : 'Untitled');
  return (
    <main class="pane transcript" aria-label="Transcript">
      <header class="pane-head transcript-head bar">
        <h2 class="one-line">{title}</h2>
        <ContextShare app={app} conversation={conversation} />
      </header>
      <MessageList app={app} conversation={conversation} />
      <Announcer conversation={conversation} />
      <ProblemBar problem={conversation.problem} />
      <Composer conversation={conversation} />
    </main>
  );
}
