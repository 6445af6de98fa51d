import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { toFolded } from '#web/state/context/gauge.ts';
import { isOpen } from '#web/state/answer/live-turn.ts';
import { textOfMessage } from '#web/state/answer/message-text.ts';
import { turnRemarks } from '#web/state/turn-remarks.ts';
import type { StoredTurn } from '#web/state/turn-pages.ts';
import { isToBeReplaced } from './draft.ts';
import type { TranscriptProps } from './transcript-props.ts';
import { OpenCalls } from './open-calls.tsx';
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

function Remarks({ of, turn }: { of: TranscriptProps; turn: StoredTurn }) {
  const texts = of.app.texts.value.transcript;
  const remarks = turnRemarks(turn, of.conversation.transcript.pages.value);
  if (remarks.length === 0) return null;
  const { count } = of.app.figures.value;
  return (
    <p class="turn-status">
      {remarks
        .map((remark) =>
          remark.kind === 'replaced' ? texts.replaced(count(remark.by)) : texts[remark.kind],
        )
        .join(' ')}
    </p>
  );
}

/** What was brought back of folded turns for the message: a click leads to where it was said. */
function Recalled({
  of: { app },
  turn: { user, answer },
  showTurn,
}: {
  of: TranscriptProps;
  turn: StoredTurn;
  showTurn: (seq: number) => void;
}) {
  const recalled = answer?.recalled ?? user?.recalled;
  if (!recalled) return null;
  const { count } = app.figures.value;
  return (
    <p class="turn-status recalled">
      {app.texts.value.transcript.recalled(count(recalled.tokens))}{' '}
      {recalled.turns.map((id) => {
        const seq = Number(id.slice('t_'.length));
        return (
          <button key={id} type="button" class="link" onClick={() => showTurn(seq)}>
            {count(seq)}
          </button>
        );
      })}
    </p>
  );
}

/** A pin of a message has its id: pinned twice it is pinned once. */
const isPinnedIn = ({ pins }: OpenConversation, messageId: string): boolean =>
  pins.value?.pins.some(({ id }) => id === messageId) ?? false;

function Actions({ of, turn }: { of: TranscriptProps; turn: StoredTurn }) {
  const { app, conversation, draft } = of;
  const { answers, transcript } = conversation;
  const texts = app.texts.value.transcript;
  const { user, answer, seq } = turn;
  if (!user || user.deleted || answers.live.value.some(isOpen)) return null;
  const isLast = seq === transcript.turnCount.value;
  const text = textOfMessage(user);
  const messageId = () => crypto.randomUUID();
  const isPinned = isPinnedIn(conversation, user.id);
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
            draft.edited.value = { messageId: user.id, seq };
          }}
        >
          {texts.edit}
        </button>
      )}
      <button
        type="button"
        aria-pressed={isPinned}
        title={texts.pinHint}
        onClick={() =>
          void conversation.attempt(() =>
            isPinned ? conversation.unpin(user.id) : conversation.pin(user.id, text),
          )
        }
      >
        {isPinned ? texts.pinned : texts.pin}
      </button>
    </div>
  );
}

/** A turn as the transcript has it; a placeholder while it is on its way. */
export function StoredRow({
  of,
  seq,
  turn,
  showTurn,
}: {
  of: TranscriptProps;
  seq: number;
  turn: StoredTurn | undefined;
  showTurn: (seq: number) => void;
}) {
  if (!turn)
    return (
      <article class="turn placeholder" aria-busy="true">
        <span class="for-listeners">{of.app.texts.value.transcript.loading}</span>
      </article>
    );
  const isFolded = seq <= toFolded(of.conversation.compactions.value).upTo;
  return (
    <article
      class="turn"
      data-seq={seq}
      data-folded={isFolded}
      data-in-context={turn.user?.inContext || turn.user?.state === 'awaiting_tool'}
      data-to-be-replaced={isToBeReplaced(of.draft, seq)}
    >
      <span class="turn-number figure" aria-hidden="true">
        {seq}
      </span>
      {turn.user && (
        <div class="message user">
          <Parts message={turn.user} />
        </div>
      )}
      {turn.user && isPinnedIn(of.conversation, turn.user.id) && (
        <p class="pinned-mark">
          <span class="chip">{of.app.texts.value.transcript.pinned}</span>
        </p>
      )}
      {turn.answer && (
        <div class="message model">
          <Parts message={turn.answer} />
        </div>
      )}
      {turn.user?.state === 'awaiting_tool' && <OpenCalls of={of} user={turn.user} />}
      <Recalled of={of} turn={turn} showTurn={showTurn} />
      <Remarks of={of} turn={turn} />
      <Actions of={of} turn={turn} />
    </article>
  );
}
