import type { RouteDependencies, Reply, Route } from '../route.ts';
import type { Config } from '#functions/config.ts';
import { callAtEnd } from '#functions/lib/async-iterators.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Clock, Caller } from '#shared/ports/ports.ts';
import { wantsStream } from './headers.ts';
import { LRUCache } from 'lru-cache';

/** Users whose calls an instance counts; those that called last. */
const USERS_REMEMBERED_MAX = 10_000;
const MINUTE_MS = 60_000;
/** A call takes some tens of milliseconds: soon one of those that run has ended. */
const AT_ONCE_RETRY_AFTER_MS = 1_000;

/**
 * What a call counts whose request was refused as wrong: nothing else of it is paid for, and its body was read and checked
 * all the same.
 */
const REFUSED_COUNTS = 10;

/** The calls of one user. */
interface Calls {
  /** When the minute began that is counted, ms of the clock. */
  sinceMs: number;
  inMinute: number;
  running: number;
}

export interface CallLimit {
  /** Counts a call of a user until `end`, and more where its request is refused. Throws USER_CALLS. */
  begin(uid: string): { end: () => void; refused: () => void };
}

const tooManyCalls = (input: {
  quota: string;
  limit: number;
  retryAfterMs: number;
  said: string;
}) =>
  new AppError({
    reason: 'USER_CALLS',
    message: `${input.quota}: ${input.limit} are reached`,
    publicMessage: input.said,
    retryAfterMs: input.retryAfterMs,
    metadata: { quota: input.quota, limit: String(input.limit) },
  });

function refuse(calls: Calls, nowMs: number, config: CallLimitConfig): void {
  const { USER_CALLS_AT_ONCE: atOnce, USER_CALLS_PER_MINUTE: perMinute } = config;
  if (atOnce > 0 && calls.running >= atOnce)
    throw tooManyCalls({
      quota: 'callsAtOnce',
      limit: atOnce,
      retryAfterMs: AT_ONCE_RETRY_AFTER_MS,
      said: `${atOnce} calls may run at once. Wait for one to end, then try again.`,
    });
  if (perMinute > 0 && calls.inMinute >= perMinute)
    throw tooManyCalls({
      quota: 'callsPerMinute',
      limit: perMinute,
      retryAfterMs: calls.sinceMs + MINUTE_MS - nowMs,
      said: `${perMinute} calls may be made in a minute. Wait as Retry-After says, then try again.`,
    });
}

type CallLimitConfig = Pick<Config, 'USER_CALLS_AT_ONCE' | 'USER_CALLS_PER_MINUTE'>;

/**
 * What keeps one user from holding up the others on an instance: reads cost no quota, but each takes the one
 * processor. Counted in memory, so that it costs no read of the store; the next instance counts anew.
 */
export function createCallLimit(
  config: CallLimitConfig,
  clock: Pick<Clock, 'now'>,
  usersMax = USERS_REMEMBERED_MAX,
): CallLimit {
  const callsByUser = new LRUCache<string, Calls>({ max: usersMax });
  return {
    begin: (uid) => {
      const nowMs = clock.now().getTime();
      const calls = callsByUser.get(uid) ?? { sinceMs: nowMs, inMinute: 0, running: 0 };
      if (nowMs - calls.sinceMs >= MINUTE_MS) {
        calls.sinceMs = nowMs;
        calls.inMinute = 0;
      }
      refuse(calls, nowMs, config);
      calls.inMinute += 1;
      calls.running += 1;
      callsByUser.set(uid, calls);
      let isRunning = true;
      return {
        end: () => {
          if (isRunning) calls.running -= 1;
          isRunning = false;
        },
        refused: () => {
          calls.inMinute += REFUSED_COUNTS - 1;
        },
      };
    },
  };
}

/**
 * Runs a call within the limit. A stream counts until it begins: open streams have a limit of their own
 * (`withStreamPlace`). Throws USER_CALLS, and what `answer` throws.
 */
export async function withinCallLimit(
  limit: CallLimit,
  target: { uid: string | undefined; left: AbortSignal },
  answer: () => Promise<Reply>,
): Promise<Reply> {
  if (target.uid === undefined) return answer();
  const { end, refused } = limit.begin(target.uid);
  let isWritten = true;
  try {
    const reply = await answer();
    if (reply.kind !== 'text') return reply;
    isWritten = false;
    return { ...reply, text: callAtEnd(reply.text, target.left, end) };
  } catch (error) {
    if (error instanceof AppError && error.status === 'INVALID_ARGUMENT') refused();
    throw error;
  } finally {
    if (isWritten) end();
  }
}

/** Frees a place; once more does nothing. */
type Release = () => void;

/** Whether the answer may be a stream: as the client asks, or as the clients of a façade decide by themselves. */
const mayStream = ({ format = 'aip', method }: Route, accept: string | undefined): boolean =>
  (format !== 'aip' && method === 'POST') || wantsStream(accept);

/** A stream that frees its place when it ends, when it breaks, and when its reader leaves. */
const freeing = (reply: Extract<Reply, { kind: 'stream' }>, release: Release): Reply => ({
  ...reply,
  text: (reader) => callAtEnd(reply.text(reader), reader.left, release),
});

/**
 * Runs a request with a place for the stream that may come of it: who has as many open as is allowed is
 * refused before anything begins. Throws USER_STREAMS, and what `answer` throws.
 */
export async function withStreamPlace(
  { quota }: Pick<RouteDependencies, 'quota'>,
  input: { route: Route; caller: Caller | undefined; accept: string | undefined },
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const { route, caller, accept } = input;
  if (!caller) return answer();
  const early = mayStream(route, accept) ? quota.openStream(caller) : undefined;
  try {
    const reply = await answer();
    if (reply.kind === 'stream') return freeing(reply, early ?? quota.openStream(caller));
    early?.();
    return reply;
  } catch (error) {
    early?.();
    throw error;
  }
}
