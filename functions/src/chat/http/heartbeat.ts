import type { Clock } from '#shared/ports/ports.ts';
import { ABORT_REASON, iteratorWithReturn } from '#functions/lib/async-iterators.ts';

/** What stands in a stream for each interval in which nothing came. */
export const HEARTBEAT_DUE = Symbol('heartbeat');

export interface HeartbeatOptions {
  clock: Pick<Clock, 'now' | 'wait'>;
  /** Silence after which a sign of life is due, ms. */
  heartbeatMs: number;
  /** Fires when the reader has left. */
  left: AbortSignal;
}

/** One timer for all waits: it looks for itself when it wakes, and rests while nobody waits. */
function createTimer(
  { clock, heartbeatMs }: HeartbeatOptions,
  { isAwaited, beat, signal }: { isAwaited: () => boolean; beat: () => void; signal: AbortSignal },
) {
  const nowMs = () => clock.now().getTime();
  let isRunning = false;
  let dueAtMs = 0;
  const run = async () => {
    isRunning = true;
    while (isAwaited() && !signal.aborted) {
      await clock.wait(dueAtMs - nowMs(), signal);
      if (isAwaited() && nowMs() >= dueAtMs) beat();
    }
    isRunning = false;
  };
  return {
    /** Somebody begins to wait. */
    begin: () => {
      dueAtMs = nowMs() + heartbeatMs;
      if (!isRunning) void run();
    },
  };
}

type News<Item> = { result: IteratorResult<Item> } | { error: unknown };

/** Asks a source for one item at a time, and keeps what it has brought until somebody takes it. */
function createPuller<Item>(source: AsyncIterator<Item>, tell: () => void) {
  let news: News<Item> | undefined;
  let isPulling = false;
  const arrive = (arrived: News<Item>) => {
    isPulling = false;
    news = arrived;
    tell();
  };
  return {
    pull: () => {
      if (isPulling || news) return;
      isPulling = true;
      source.next().then(
        (result) => arrive({ result }),
        (error: unknown) => arrive({ error }),
      );
    },
    take: () => {
      const taken = news;
      news = undefined;
      return taken;
    },
  };
}

/**
 * The items as they come, and HEARTBEAT_DUE whenever none has come for `heartbeatMs` since one was asked for. It is
 * pulled: a slow reader slows the source down. Ends when the reader has left, in silence too. Throws what the source
 * throws. A race with the timer would leave a reaction with it for each item.
 */
export function withHeartbeats<Item>(
  items: AsyncIterable<Item>,
  options: HeartbeatOptions,
): AsyncIterableIterator<Item | typeof HEARTBEAT_DUE> {
  const source = items[Symbol.asyncIterator]();
  const ended = new AbortController();
  let reader: PromiseWithResolvers<IteratorResult<Item | typeof HEARTBEAT_DUE>> | undefined;

  const answer = (result: IteratorResult<Item | typeof HEARTBEAT_DUE>) => {
    reader?.resolve(result);
    reader = undefined;
  };
  const timer = createTimer(options, {
    isAwaited: () => reader !== undefined,
    beat: () => answer({ done: false, value: HEARTBEAT_DUE }),
    signal: ended.signal,
  });
  const end = () => {
    options.left.removeEventListener('abort', end);
    ended.abort(ABORT_REASON);
    answer({ done: true, value: undefined });
    // The reader's own view of the items is closed, their source goes on. What waits for the next item notices
    // when it comes; nobody waits for that.
    void source.return?.().catch(() => undefined);
  };
  const tell = () => {
    const told = reader && puller.take();
    if (!told) return;
    if ('result' in told) answer(told.result);
    else reader?.reject(told.error);
    if ('error' in told || told.result.done) end();
  };
  const puller = createPuller(source, tell);
  options.left.addEventListener('abort', end);
  if (options.left.aborted) end();
  return iteratorWithReturn(() => {
    const { promise } = (reader = Promise.withResolvers());
    if (ended.signal.aborted) answer({ done: true, value: undefined });
    else {
      timer.begin();
      puller.pull();
      tell();
    }
    return promise;
  }, end);
}
