import type { ConversationProps } from '#web/state/app.ts';
import type { Texts } from '#web/text/en.ts';
import { isOpen, liveSeq, type AnswerPart, type LiveTurn } from '#web/state/answer/live-turn.ts';
import { Button } from '../controls.tsx';
import { Prose, ToolCall } from './message-parts.tsx';

function statusOf(turn: LiveTurn, texts: Texts['transcript']): string | undefined {
  switch (turn.phase) {
    case 'sending':
      return texts.sending;
    case 'waiting':
      return texts.waiting;
    case 'reconnecting':
      return texts.reconnecting;
    case 'stopped':
      return texts.stopped;
    case 'failed':
      return `${texts.failed} ${turn.problem?.message ?? ''}`;
    case 'streaming':
      return undefined;
    case 'done':
      if (turn.finishReason === 'content-filter') return texts.contentFilter;
      return turn.finishReason === 'length' ? texts.length : undefined;
  }
}

function Part({ part, texts }: { part: AnswerPart; texts: Texts['transcript'] }) {
  switch (part.kind) {
    case 'text':
      return <Prose text={part.text} />;
    case 'tool':
      return <ToolCall name={part.name} input={part.input} output={part.problem ?? part.output} />;
    case 'notice':
      return <p class="turn-status">{texts[part.notice]}</p>;
  }
}

interface LiveProps extends ConversationProps {
  turn: LiveTurn;
}

/** After a refusal: the same again, or, where that would be refused again, another message. */
function WayOn({ app, conversation, turn }: LiveProps) {
  const { answers, draft, transcript } = conversation;
  const texts = app.texts.value.transcript;
  const { messageId, text } = turn.request;
  const isNewest =
    answers.live.value.at(-1) === turn && (liveSeq(turn) ?? Infinity) >= transcript.turnCount.value;
  if (!isNewest) return null;
  const rewrite = (): void => {
    draft.text.value = text;
    answers.forget(messageId);
    document.querySelector<HTMLElement>('.composer textarea')?.focus();
  };
  return (
    <p class="turn-way-on">
      {!turn.problem?.isFinal && (
        <Button class="button small" text={texts.retry} onClick={() => answers.retry(messageId)} />
      )}
      <Button class="button small" text={texts.sendChanged} onClick={rewrite} />
    </p>
  );
}

/** A turn that is being answered. */
export function LiveRow(props: LiveProps) {
  const { app, turn } = props;
  const texts = app.texts.value.transcript;
  const status = statusOf(turn, texts);
  const { turnsLeftOut = 0 } = turn;
  return (
    <article class="turn" data-phase={turn.phase}>
      {turn.request.text !== '' && (
        <div class="message user">
          <Prose text={turn.request.text} />
        </div>
      )}
      <div class="message model" aria-busy={isOpen(turn)}>
        {turn.parts.map((part) => (
          <Part key={part.id} part={part} texts={texts} />
        ))}
        {turnsLeftOut > 0 && (
          <p class="turn-status">{texts.turnsLeftOut(app.figures.value.count(turnsLeftOut))}</p>
        )}
        {status !== undefined && (
          <p class="turn-status" data-phase={turn.phase}>
            {status}
          </p>
        )}
        {turn.phase === 'failed' && <WayOn {...props} />}
      </div>
    </article>
  );
}
