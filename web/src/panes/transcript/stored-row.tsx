import type { MessageView } from '../../../../shared/wire/responses/messages.ts';
import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import type { StoredTurn } from '../../state/turn-pages.ts';
import { Prose } from './prose.tsx';

const textOfMessage = (message: MessageView | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

/** A turn as the transcript has it; a placeholder while it is on its way. */
export function StoredRow({
  app,
  turn,
}: {
  app: App;
  conversation: OpenConversation;
  turn: StoredTurn | undefined;
}) {
  const texts = app.texts.value.transcript;
  if (!turn) return <article class="turn loading">{texts.loading}</article>;
  return (
    <article class="turn" data-seq={turn.seq}>
      <div class="message user">
        <Prose text={textOfMessage(turn.user)} />
      </div>
      {turn.answer && (
        <div class="message model">
          <Prose text={textOfMessage(turn.answer)} />
        </div>
      )}
    </article>
  );
}
