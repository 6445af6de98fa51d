import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import { Composer } from './composer.tsx';
import { MessageList } from './message-list.tsx';
import { ProblemBar } from '../problem-bar.tsx';

export function TranscriptPane({
  app,
  conversation,
}: {
  app: App;
  conversation: OpenConversation;
}) {
  const texts = app.texts.value;
  const title = conversation.view.value?.title ?? texts.conversations.untitled;
  return (
    <main class="pane transcript" aria-label={texts.panes.transcript}>
      <header class="transcript-head">
        <h2>{title}</h2>
      </header>
      <MessageList app={app} conversation={conversation} />
      <ProblemBar app={app} problem={conversation.problem} />
      <Composer app={app} conversation={conversation} />
    </main>
  );
}
