import type { TurnError } from '../../../shared/conversation/turn.ts';
import { contentText } from '../../../shared/conversation/content.ts';
import { answerId, turnId } from '../../../shared/conversation/paths.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';
import type { ContextObject } from '../../../shared/wire/context-object.ts';
import { finishReasonOf, type StreamChunk } from '../../../shared/wire/stream.ts';

export const startChunk = (start: {
  conversationId: string;
  seq: number;
  generation: number;
  replayed: boolean;
}): StreamChunk => ({
  type: 'start',
  messageId: answerId(start.seq),
  messageMetadata: {
    turnId: turnId(start.seq),
    conversationId: start.conversationId,
    generation: start.generation,
    replayed: start.replayed,
  },
});

/** What stands after the text: the context, an error if there was one, and the finish. */
export function closingChunks(end: {
  turn: Pick<Turn, 'usage' | 'finishReason' | 'state'>;
  error: Pick<TurnError, 'message'> | undefined;
  context: ContextObject;
}): StreamChunk[] {
  const { turn, error, context } = end;
  const { promptTokens = 0, cachedTokens = 0, outputTokens = 0 } = turn.usage ?? {};
  return [
    { type: 'data-context', id: 'ctx', transient: true, data: context },
    ...(turn.state === 'cancelled' ? [{ type: 'abort' as const }] : []),
    ...(error ? [{ type: 'error' as const, errorText: error.message }] : []),
    {
      type: 'finish',
      finishReason: error ? 'error' : finishReasonOf(turn.finishReason),
      messageMetadata: {
        ...(turn.usage && { usage: { promptTokens, cachedTokens, outputTokens } }),
        generation: context.generation,
      },
    },
  ];
}

/** A finished turn as a stream of its own: the stored text as one delta. */
export function replayChunks(replay: {
  conversationId: string;
  turn: Turn;
  context: ContextObject;
}): StreamChunk[] {
  const { conversationId, turn, context } = replay;
  const text = turn.contents.map(contentText).join('');
  const { seq } = turn;
  return [
    startChunk({ conversationId, seq, generation: context.generation, replayed: true }),
    ...(text === ''
      ? []
      : ([
          { type: 'text-start', id: 'p0' },
          { type: 'text-delta', id: 'p0', delta: text },
          { type: 'text-end', id: 'p0' },
        ] satisfies StreamChunk[])),
    ...closingChunks({ turn, error: turn.error, context }),
  ];
}
