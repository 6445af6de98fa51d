import type { Clock } from '#shared/ports/ports.ts';
import { ABORT_REASON } from '#functions/lib/async-iterators.ts';

/** What stands in a stream for each interval in which nothing came. */
export const HEARTBEAT_DUE = Symbol('heartbeat');

export interface HeartbeatOptions {
  clock: Pick<Clock, 'wait'>;
  /** Silence after which a sign of life is due, ms. */
  heartbeatMs: number;
  /** Fires when the reader has left. */
  left: AbortSignal;
}

/**
 * The items as they come, and HEARTBEAT_DUE whenever none has come for `heartbeatMs` since one was asked for. It is
 * pulled: a slow reader slows the source down. Ends when the reader has left, in silence too. Throws what the source
 * throws.
 */
export async function* withHeartbeats<Item>(
  items: AsyncIterable<Item>,
  { clock, heartbeatMs, left }: HeartbeatOptions,
): AsyncGenerator<Item | typeof HEARTBEAT_DUE> {
  const source = items[Symbol.asyncIterator]();
  let timer = new AbortController();
  const stop = () => timer.abort(ABORT_REASON);
  left.addEventListener('abort', stop);
  let next: Promise<IteratorResult<Item>> | undefined;
  try {
    while (!left.aborted) {
      next ??= source.next();
      timer = new AbortController();
      const silence = clock.wait(heartbeatMs, timer.signal);
      const result = await Promise.race([next, silence]);
      stop();
      if (left.aborted || result?.done === true) return;
      if (result) next = undefined;
      yield result ? result.value : HEARTBEAT_DUE;
    }
  } finally {
    stop();
    left.removeEventListener('abort', stop);
    // The reader's own view of the items is closed, their source goes on. What waits for the next item notices
    // when it comes; nobody waits for that.
    void source.return?.().catch(() => undefined);
  }
}
