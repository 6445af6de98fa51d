import type { Clock } from '#shared/ports/ports.ts';
import { ABORT_REASON } from '#functions/lib/abortable.ts';

/** What stands in a stream for each interval in which nothing came. */
export const HEARTBEAT_DUE = Symbol('silence');

export interface HeartbeatOptions {
  clock: Pick<Clock, 'now' | 'wait'>;
  /** Silence after which a sign of life is due, ms. */
  heartbeatMs: number;
  /** Fires when the reader has left. */
  left: AbortSignal;
}

type Next<Item> = { result: IteratorResult<Item> } | { broken: unknown };

/** Something came before the interval was over. */
const HEARD = Symbol('heard');

/** One timer for many items: what is heard moves its end, and it looks for itself when it wakes. */
function createHeartbeat({ clock, heartbeatMs, left }: HeartbeatOptions) {
  const ended = new AbortController();
  const end = () => ended.abort(ABORT_REASON);
  left.addEventListener('abort', end, { once: true });
  if (left.aborted) end();
  const nowMs = () => clock.now().getTime();
  let dueAtMs = nowMs() + heartbeatMs;
  let waiting: Promise<typeof HEARTBEAT_DUE | typeof HEARD> | undefined;
  const wait = async () => {
    await clock.wait(dueAtMs - nowMs(), ended.signal);
    waiting = undefined;
    return ended.signal.aborted || nowMs() >= dueAtMs ? HEARTBEAT_DUE : HEARD;
  };
  return {
    hear: () => void (dueAtMs = nowMs() + heartbeatMs),
    /** Resolves at the latest when nothing was heard for so long, or the reader leaves. */
    next: () => (waiting ??= wait()),
    end: () => {
      left.removeEventListener('abort', end);
      end();
    },
  };
}

/**
 * The items as they come, and SILENCE whenever none has come for `heartbeatMs`. It is pulled: a slow reader
 * slows the source down. Ends when the reader has left, in silence too. Throws what the source throws.
 */
export async function* withHeartbeats<Item>(
  items: AsyncIterable<Item>,
  options: HeartbeatOptions,
): AsyncGenerator<Item | typeof HEARTBEAT_DUE> {
  const iterator = items[Symbol.asyncIterator]();
  const silence = createHeartbeat(options);
  const pull = (): Promise<Next<Item>> =>
    iterator.next().then(
      (result) => ({ result }),
      (error: unknown) => ({ broken: error }),
    );
  try {
    for (let next = pull(); ;) {
      const arrived = await Promise.race([next, silence.next()]);
      if (options.left.aborted) return;
      if (arrived === HEARD) continue;
      if (arrived === HEARTBEAT_DUE) {
        yield HEARTBEAT_DUE;
        silence.hear();
        continue;
      }
      if ('broken' in arrived) throw arrived.broken;
      if (arrived.result.done) return;
      yield arrived.result.value;
      silence.hear();
      next = pull();
    }
  } finally {
    silence.end();
    // The reader's own view of the items is closed, their source goes on. What waits for the next item notices
    // when it comes; nobody waits for that.
    void iterator.return?.().catch(() => undefined);
  }
}
