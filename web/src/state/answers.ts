import type { ConversationApi, AnswerRequest } from '#web/api/chat-api.ts';
import { ApiError } from '#web/api/api-error.ts';
import type { ReceivedFrame } from '#web/api/requester.ts';
import {
  applyFrame,
  forgetFrames,
  isOpen,
  type LiveTurn,
  type TurnProblem,
  beginLiveTurn,
  liveSeq,
} from './live-turn.ts';
import { signal } from '@preact/signals';

/** Resolves after the time, or when the signal ends the wait. */
export const pause = (delayMs: number, ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (ended.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      ended.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    ended.addEventListener('abort', end, { once: true });
  });

/** Waits between tries without a `Retry-After`, milliseconds (docs/guides/clients.md). */
export const BACK_OFF_MS = [300, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/** Tries of a request that the service did not even take: what is refused so often is shown. */
const TRIES_MAX = 12;

interface AnswerConnection {
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
  const { api, get, set, left } = connection;
  const { turnId, lastFrameId, isFollowed } = get();
  if (lastFrameId === undefined) set(forgetFrames(get()));
  // What somebody else asked for is never asked for again.
  const isResumption = turnId !== undefined && (isFollowed || lastFrameId !== undefined);
  const stream = isResumption
    ? await api.follow(turnId, lastFrameId, left)
    : await api.ask(get().request, left);
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
async function followAnswer(connection: AnswerConnection): Promise<void> {
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

/** Pause before the transcript is asked again for a turn that has ended. */
const LOOK_AGAIN_MS = 2_000;

interface AnswersParts extends Pick<AnswerConnection, 'left' | 'onFrame'> {
  api: ConversationApi;
  onAsk: (request: AnswerRequest) => void;
  /** A turn has ended: resolves to whether the transcript has it now. */
  onEnd: (seq: number) => Promise<boolean>;
}

/** The stored turn says whether the same again is worth a try; without a network it may be. */
async function explained(api: ConversationApi, turn: LiveTurn): Promise<LiveTurn> {
  const stored = turn.turnId && (await api.turn(turn.turnId).catch(() => undefined));
  if (!stored || !stored.error) return turn;
  const { message, retryable } = stored.error;
  return { ...turn, problem: { message, isFinal: !retryable } };
}

/** The answers of a conversation that this page asked for, until the transcript has them. */
export function createAnswers(parts: AnswersParts) {
  const { api, left } = parts;
  const live = signal<readonly LiveTurn[]>([]);
  const isOf = (messageId: string) => (turn: LiveTurn) => turn.request.messageId === messageId;
  const find = (messageId: string): LiveTurn | undefined => live.value.find(isOf(messageId));
  const others = (messageId: string): LiveTurn[] =>
    live.value.filter((turn) => !isOf(messageId)(turn));

  const replace = (next: LiveTurn): void => {
    const isSame = isOf(next.request.messageId);
    live.value = live.value.map((known) => (isSame(known) ? next : known));
  };

  /** A turn that was not answered is shown as the transcript has it, or no more. */
  const forget = (messageId: string): void => {
    live.value = others(messageId);
  };

  /** The transcript has what the stream has told: the live turn gives way to it. */
  async function settle(messageId: string): Promise<void> {
    const turn = find(messageId);
    if (!turn || isOpen(turn)) return;
    const seq = liveSeq(turn);
    if (seq === undefined) return;
    // Without a network what was streamed stays in its place.
    while (!(await parts.onEnd(seq)) && !left.aborted) await pause(LOOK_AGAIN_MS, left);
    if (turn.phase === 'failed') replace(await explained(api, turn));
    else forget(messageId);
  }

  function begin(request: AnswerRequest, turnId?: string): void {
    const { messageId } = request;
    const turn = beginLiveTurn(request, turnId);
    live.value = [...others(messageId), turn];
    const get = () => find(messageId) ?? turn;
    void followAnswer({ ...parts, get, set: replace }).then(() => settle(messageId));
  }

  function ask(request: AnswerRequest): void {
    parts.onAsk(request);
    begin(request);
  }

  return {
    live,
    ask,
    /** The same request again: the service attaches it to the same turn. */
    retry: (messageId: string): void => {
      const turn = find(messageId);
      if (turn) ask(turn.request);
    },
    forget,
    /** Follows an answer that somebody else asked for. */
    follow: (request: AnswerRequest, turnId: string): void => begin(request, turnId),
  };
}

export type Answers = ReturnType<typeof createAnswers>;
