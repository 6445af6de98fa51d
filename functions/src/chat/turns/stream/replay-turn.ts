import { turnId } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { isReplaced } from '#shared/conversation/writes/replaced-by.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { FinishedTurn } from '../live/live-turn.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { finishedFrom, readRemainder } from './read-finished.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import type { StartState } from '../start/read-start.ts';
import type { SendHandle, SendRequest } from '../send/send-request.ts';
import { replayFrames } from '../live/turn-frames.ts';
import { orFailure } from './turn-failure.ts';

/**
 * A failure as it is replayed. A message that is deleted, or that another one has taken the place of, is not answered
 * any more, and a client library that is told 503 would send it for ever.
 */
const withFinalError = (turn: Turn): Turn =>
  turn.error?.retryable === true && (isReplaced(turn) || turn.eraseTime !== undefined)
    ? {
        ...turn,
        error: {
          status: 'FAILED_PRECONDITION',
          reason: turn.error.reason,
          message:
            'This message was deleted, or another one has taken its place. Send its text as a new message, with a new id.',
          retryable: false,
        },
      }
    : turn;

/**
 * What one who sends again with a cursor still has to get. A duplicate is never refused for its cursor:
 * one that makes no sense gets the whole answer.
 */
async function framesFor(
  dependencies: ChatDependencies,
  { conversationId, cursor }: SendRequest,
  finished: FinishedTurn,
): Promise<StreamFrame[]> {
  const rest = await readRemainder(dependencies, { conversationId, ...finished }, cursor);
  switch (rest.kind) {
    case 'frames':
      return rest.frames;
    case 'nothing':
      return [];
    case 'pastEnd':
    case 'expired':
      return replayFrames({ conversationId, ...finished });
  }
}

/** The stored answer as a stream of its own; no model call. */
export async function replayHandle(
  dependencies: ChatDependencies,
  request: SendRequest,
  replay: { state: StartState; seq: number },
): Promise<SendHandle> {
  const { conversationId, locale } = request;
  const [stored] = await readTurns(dependencies.store, conversationId, [replay.seq]);
  const conversation = replay.state.conversation?.value;
  if (!stored || !conversation) throw notFoundError(conversationId);
  const turn = withFinalError(stored.value);
  const { job } = replay.state;
  const finished = await finishedFrom(dependencies, {
    conversationId,
    conversation,
    job,
    turn,
    locale,
  });
  const all = await framesFor(dependencies, request, finished);
  async function* frames(): AsyncIterable<StreamFrame> {
    for (const frame of all) yield await Promise.resolve(frame);
  }
  return {
    turnId: turnId(turn.seq),
    conversationId,
    generation: finished.context.generation,
    replayed: true,
    frames,
    // It has ended: nobody is waited for.
    subscribe: () => undefined,
    result: ignoreRejection(Promise.resolve(finished).then(orFailure)),
  };
}
