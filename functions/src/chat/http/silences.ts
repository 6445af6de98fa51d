import type { Clock } from '../../../../shared/ports.ts';

/** What stands in a stream for each interval in which nothing came. */
export const SILENCE = Symbol('silence');

export interface SilenceOptions {
  clock: Pick<Clock, 'wait'>;
  /** Silence after which a sign of life is due, ms. */
  heartbeatMs: number;
  /** Fires when the reader has left. */
  left: AbortSignal;
}

type Next<Item> = { result: IteratorResult<Item> } | { broken: unknown };

/** The next item, or SILENCE when it does not come within the interval or the reader leaves. */
async function nextOrSilence<Item>(
  next: Promise<Next<Item>>,
  { clock, heartbeatMs, left }: SilenceOptions,
): Promise<Next<Item> | typeof SILENCE> {
  const timer = new AbortController();
  const silence = clock
    .wait(heartbeatMs, AbortSignal.any([timer.signal, left]))
    .then((): typeof SILENCE => SILENCE);
  const first = await Promise.race([next, silence]);
  timer.abort();
  return first;
}

/**
 * The items as they come, and SILENCE whenever none has come for `heartbeatMs`. It is pulled: a slow reader
 * slows the source down. Ends when the reader has left, in silence too. Throws what the source throws.
 */
export async function* withSilences<Item>(
  items: AsyncIterable<Item>,
  options: SilenceOptions,
): AsyncGenerator<Item | typeof SILENCE> {
  const iterator = items[Symbol.asyncIterator]();
  const pull = (): Promise<Next<Item>> =>
    iterator.next().then(
      (result) => ({ result }),
      (error: unknown) => ({ broken: error }),
    );
  try {
    for (let next = pull(); ;) {
      const arrived = await nextOrSilence(next, options);
      if (options.left.aborted) return;
      if (arrived === SILENCE) {
        yield SILENCE;
        continue;
      }
      if ('broken' in arrived) throw arrived.broken;
      if (arrived.result.done) return;
      yield arrived.result.value;
      next = pull();
    }
  } finally {
    // The reader's own view of the items is closed, their source goes on. What waits for the next item notices
    // when it comes; nobody waits for that.
    void iterator.return?.().catch(() => undefined);
  }
}
