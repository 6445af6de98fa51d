/** Processor time of this thread that `work` takes, ms: what else the machine does does not count. */
function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Below this the clock tells more about the machine than about the work, ms. */
const FLOOR_MS = 5;
/** Caches and collections of garbage disturb single rounds; work that grows with the square is told by every round. */
const ROUNDS = 5;

/**
 * How much more work ten times the text is, in the best of some rounds: about 10 where work grows with the text, 100
 * where it grows with its square. Less is made of work that takes next to no time.
 */
export function workRatio(work: (text: string) => unknown, small: string, large: string): number {
  let ratio = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && ratio > 12; round++) {
    const smallMs = Math.max(...[1, 2].map(() => processorMs(() => void work(small))));
    const largeMs = processorMs(() => void work(large));
    ratio = Math.min(ratio, largeMs / Math.max(FLOOR_MS, smallMs));
  }
  return ratio;
}
