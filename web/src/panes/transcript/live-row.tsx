import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import { textOf, type LiveTurn } from '../../state/live-turn.ts';
import { Prose } from './prose.tsx';

/** What is told of a turn beside its text. */
function Status({ app, turn }: { app: App; turn: LiveTurn }) {
  const texts = app.texts.value.transcript;
  switch (turn.phase) {
    case 'sending':
      return <p class="turn-status">{texts.sending}</p>;
    case 'waiting':
      return <p class="turn-status">{texts.waiting}</p>;
    case 'reconnecting':
      return <p class="turn-status">{texts.reconnecting}</p>;
    case 'stopped':
      return <p class="turn-status">{texts.stopped}</p>;
    case 'failed':
      return (
        <p class="turn-status failed">
          {texts.failed} {turn.problem?.message}
        </p>
      );
    case 'streaming':
    case 'done':
      return null;
  }
}

/** A turn that is being answered. */
export function LiveRow({
  app,
  conversation,
  turn,
}: {
  app: App;
  conversation: OpenConversation;
  turn: LiveTurn;
}) {
  const texts = app.texts.value.transcript;
  return (
    <article class="turn" data-phase={turn.phase}>
      <div class="message user">
        <Prose text={turn.request.text} />
      </div>
      <div class="message model" aria-busy={turn.phase === 'streaming'}>
        <Prose text={textOf(turn.parts)} />
        <Status app={app} turn={turn} />
        {turn.phase === 'failed' && (
          <button
            type="button"
            class="button small"
            onClick={() => conversation.answers.retry(turn.request.messageId)}
          >
            {texts.retry}
          </button>
        )}
      </div>
    </article>
  );
}
