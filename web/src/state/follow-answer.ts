import { ApiError } from '#web/api/api-error.ts';
import type { ConversationApi } from '#web/api/chat-api.ts';
import type { ReceivedFrame } from '#web/api/event-stream.ts';
import { pause } from './waiting.ts';
import { applyFrame, forgetFrames, isOpen, type LiveTurn, type TurnProblem } from './live-turn.ts';

/** Waits between tries without a `Retry-After`, milliseconds (docs/guides/clients.md). */
const BACK_OFF_MS = [300, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/** Tries of a request that the service did not even take: what is refused so often is shown. */
const TRIES_MAX = 12;

export interface AnswerConnection {
  api: Pick<ConversationApi, 'ask' | 'follow'>;
  /** The turn as it stands. */
  get: () => LiveTurn;
  set: (turn: LiveTurn) => void;
  /** Every event, for what is not of the answer: the context, the title. */
  onFrame: (frame: ReceivedFrame) => void;
  /** The page shows something else now. */
  left: AbortSignal;
}

/** Whether the same request is worth another try by itself. */
const passes = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (error.isPassing || (error.code === 429 && error.reason === 'USER_RPM'));

/** Of refusals of the request itself: it is wrong, too large, or another one had its id. */
const FINAL_CODES = [400, 409, 410, 413];

function problemOf(error: unknown): TurnProblem {
  if (!(error instanceof ApiError)) return { message: String(error) };
  const { message, reason, code } = error;
  const isFinal = FINAL_CODES.includes(code) && reason !== 'TURN_IN_PROGRESS';
  return { message, isFinal };
}

async function connectOnce(connection: AnswerConnection): Promise<void> {
  const { api, get, set, left: signal } = connection;
  const { turnId, lastFrameId, isFollowed } = get();
  if (lastFrameId === undefined) set(forgetFrames(get()));
  // What somebody else asked for is never asked for again.
  const isResumption = turnId !== undefined && (isFollowed || lastFrameId !== undefined);
  const stream = isResumption
    ? await api.follow(turnId, { startingAfter: lastFrameId, signal })
    : await api.ask(get().request, signal);
  if (!stream.frames) {
    // All of it was seen: the stored turn says how it ended.
    set({ ...get(), phase: 'done' });
    return;
  }
  if (stream.turnId !== undefined) set({ ...get(), turnId: stream.turnId, phase: 'waiting' });
  for await (const frame of stream.frames) {
    set(applyFrame(get(), frame));
    connection.onFrame(frame);
  }
}

/**
 * Follows an answer to its end over as many connections as it takes: after a cut it goes on behind the last
 * event that it saw, a request that was not answered is made again under the same id. Resolves when the turn
 * has ended, was refused, or the page has left it.
 */
export async function followAnswer(connection: AnswerConnection): Promise<void> {
  const { get, set, left } = connection;
  for (let tries = 0; !left.aborted;) {
    const seenBefore = get().lastFrameId;
    try {
      await connectOnce(connection);
      if (!isOpen(get())) return;
      throw new ApiError({ code: 0, reason: 'OFFLINE', message: 'the stream has no end' });
    } catch (error) {
      if (left.aborted) return;
      tries = get().lastFrameId === seenBefore ? tries + 1 : 0;
      if (!passes(error) || tries > TRIES_MAX) {
        set({ ...get(), phase: 'failed', problem: problemOf(error) });
        return;
      }
      set({ ...get(), phase: 'reconnecting' });
      const wait = BACK_OFF_MS[Math.min(tries, BACK_OFF_MS.length - 1)] ?? 0;
      await pause(error.retryAfterMs ?? wait, left);
    }
  }
}
