import type { MessageView } from '#shared/wire/resources/messages.ts';
import { isOpen } from '#web/state/answer/live-turn.ts';
import type { ConversationProps } from '#web/state/app.ts';
import { toFolded } from '#web/state/context/gauge.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { textOfMessage, type StoredTurn } from '#web/state/turn-pages.ts';
import { turnRemarks } from '#web/state/turn-remarks.ts';
import { Button } from '../controls.tsx';
import { Prose, ToolCall } from './message-parts.tsx';
import { OpenCalls } from './open-calls.tsx';
import { Sources } from './sources.tsx';

interface StoredProps extends ConversationProps {
  turn: StoredTurn;
}

function Part({ part }: { part: MessageView['parts'][number] }) {
  switch (part.type) {
    case 'text':
      return <Prose text={part.text} />;
    case 'file':
      return <p class="file">{part.name ?? part.mediaType}</p>;
    case 'functionCall':
      return <ToolCall name={part.name} input={part.args} />;
    case 'functionResponse':
      return <ToolCall name={part.name} output={part.response} />;
  }
}

const Message = ({ message }: { message: MessageView }) => (
  <div class={`message ${message.role}`}>
    {message.parts.map((part, at) => (
      <Part key={at} part={part} />
    ))}
  </div>
);

function Remarks({ app, conversation, turn }: StoredProps) {
  const texts = app.texts.value.transcript;
  const { count } = app.figures.value;
  const remarks = turnRemarks(turn, conversation.transcript.pages.value).map((remark) =>
    remark.kind === 'replaced' ? texts.replaced(count(remark.by)) : texts[remark.kind],
  );
  return remarks.length === 0 ? null : <p class="turn-status">{remarks.join(' ')}</p>;
}

/** What was brought back of folded turns for the message: a click leads to where it was said. */
function Recalled({
  app,
  turn: { user, answer },
  showTurn,
}: StoredProps & { showTurn: (seq: number) => void }) {
  const recalled = answer?.recalled ?? user?.recalled;
  if (!recalled) return null;
  const { count } = app.figures.value;
  return (
    <p class="turn-status recalled">
      {app.texts.value.transcript.recalled(count(recalled.tokens))}{' '}
      {recalled.turns.map((id) => {
        const seq = Number(id.slice('t_'.length));
        return <Button key={id} class="link" text={count(seq)} onClick={() => showTurn(seq)} />;
      })}
    </p>
  );
}

/** A pin of a message has its id: pinned twice it is pinned once. */
const isPinnedIn = ({ pins }: OpenConversation, messageId: string): boolean =>
  pins.value?.pins.some(({ id }) => id === messageId) ?? false;

function Actions({ app, conversation, turn }: StoredProps) {
  const { answers, draft, transcript } = conversation;
  const texts = app.texts.value.transcript;
  const { user, answer, seq } = turn;
  if (!user || user.deleted || answers.live.value.some(isOpen)) return null;
  const isLast = seq === transcript.turnCount.value;
  const { id } = user;
  const text = textOfMessage(user);
  const isPinned = isPinnedIn(conversation, id);
  const regenerate = (answerId: string): void =>
    answers.ask({ kind: 'regenerate', messageId: crypto.randomUUID(), text, answerId });
  const edit = (): void => {
    draft.text.value = text;
    draft.edited.value = { messageId: id, seq };
  };
  const pin = () => (isPinned ? conversation.unpin(id) : conversation.pin(id, text));
  return (
    <div class="turn-actions">
      {isLast && user.state === 'failed' && (
        <Button
          text={texts.retry}
          onClick={() => answers.ask({ kind: 'send', messageId: id, text })}
        />
      )}
      {isLast && answer && <Button text={texts.regenerate} onClick={() => regenerate(answer.id)} />}
      {user.inContext && <Button text={texts.edit} onClick={edit} />}
      <Button
        text={isPinned ? texts.pinned : texts.pin}
        aria-pressed={isPinned}
        title={texts.pinHint}
        onClick={() => void conversation.attempt(pin)}
      />
    </div>
  );
}

/** A turn as the transcript has it. */
export function StoredRow(props: StoredProps & { showTurn: (seq: number) => void }) {
  const { app, conversation, turn } = props;
  const { seq, user, answer } = turn;
  const edited = conversation.draft.edited.value;
  const isAwaiting = user?.state === 'awaiting_tool';
  return (
    <article
      class="turn"
      data-seq={seq}
      data-folded={seq <= toFolded(conversation.compactions.value).upTo}
      data-in-context={user?.inContext || isAwaiting}
      data-to-be-replaced={edited !== undefined && seq >= edited.seq}
    >
      <span class="turn-number figure" aria-hidden="true">
        {seq}
      </span>
      {user && <Message message={user} />}
      {user && isPinnedIn(conversation, user.id) && (
        <p class="pinned-mark">
          <span class="chip">{app.texts.value.transcript.pinned}</span>
        </p>
      )}
      {answer && <Message message={answer} />}
      <Sources app={app} answer={answer} />
      {isAwaiting && <OpenCalls app={app} conversation={conversation} user={user} />}
      <Recalled {...props} />
      <Remarks {...props} />
      <Actions {...props} />
    </article>
  );
}
