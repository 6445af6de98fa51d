import type { MessageView } from '../../../../shared/wire/responses/messages.ts';
import { foldedOf } from '../../state/folded.ts';
import { isOpen } from '../../state/live-turn.ts';
import { textOfMessage } from '../../state/message-text.ts';
import type { StoredTurn } from '../../state/turn-pages.ts';
import type { TranscriptOf } from './message-list.tsx';
import { Prose } from './prose.tsx';
import { ToolCall } from './tool-call.tsx';

function Parts({ message }: { message: MessageView }) {
  return (
    <>
      {message.parts.map((part, at) => {
        switch (part.type) {
          case 'text':
            return <Prose key={at} text={part.text} />;
          case 'file':
            return (
              <p key={at} class="file">
                {part.name ?? part.mediaType}
              </p>
            );
          case 'functionCall':
            return <ToolCall key={at} name={part.name} input={part.args} />;
          case 'functionResponse':
            return <ToolCall key={at} name={part.name} output={part.response} />;
        }
      })}
    </>
  );
}

/** What is said of a turn that is not as others. */
function remarkOf(of: TranscriptOf, { user }: StoredTurn): string | undefined {
  const texts = of.app.texts.value.transcript;
  if (user?.deleted) return texts.deleted;
  if (user?.state === 'failed') return texts.failed;
  if (user?.state === 'cancelled') return texts.stopped;
  if (user?.inContext === false) return texts.notInContext;
  return undefined;
}

function Actions({ of, turn }: { of: TranscriptOf; turn: StoredTurn }) {
  const { app, conversation, draft } = of;
  const { answers, transcript } = conversation;
  const texts = app.texts.value.transcript;
  const { user, answer, seq } = turn;
  if (!user || user.deleted || answers.live.value.some(isOpen)) return null;
  const isLast = seq === transcript.turnCount.value;
  const text = textOfMessage(user);
  const messageId = () => crypto.randomUUID();
  return (
    <div class="turn-actions">
      {isLast && user.state === 'failed' && (
        <button
          type="button"
          onClick={() => answers.ask({ kind: 'send', messageId: user.id, text })}
        >
          {texts.retry}
        </button>
      )}
      {isLast && answer && (
        <button
          type="button"
          onClick={() =>
            answers.ask({ kind: 'regenerate', messageId: messageId(), text, answerId: answer.id })
          }
        >
          {texts.regenerate}
        </button>
      )}
      {user.inContext && (
        <button
          type="button"
          onClick={() => {
            draft.text.value = text;
            draft.edited.value = user.id;
          }}
        >
          {texts.edit}
        </button>
      )}
      <button type="button" onClick={() => void conversation.attempt(() => conversation.pin(text))}>
        {texts.pin}
      </button>
    </div>
  );
}

/** A turn as the transcript has it; a placeholder while it is on its way. */
export function StoredRow({
  of,
  seq,
  turn,
}: {
  of: TranscriptOf;
  seq: number;
  turn: StoredTurn | undefined;
}) {
  if (!turn)
    return (
      <article class="turn placeholder" aria-busy="true">
        <span class="for-listeners">{of.app.texts.value.transcript.loading}</span>
      </article>
    );
  const isFolded = seq <= foldedOf(of.conversation.compactions.value).upTo;
  const remark = remarkOf(of, turn);
  return (
    <article
      class="turn"
      data-seq={seq}
      data-folded={isFolded}
      data-in-context={turn.user?.inContext}
    >
      <span class="turn-number figure" aria-hidden="true">
        {seq}
      </span>
      {turn.user && (
        <div class="message user">
          <Parts message={turn.user} />
        </div>
      )}
      {turn.answer && (
        <div class="message model">
          <Parts message={turn.answer} />
        </div>
      )}
      {remark !== undefined && <p class="turn-status">{remark}</p>}
      <Actions of={of} turn={turn} />
    </article>
  );
}
