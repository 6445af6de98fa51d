/** Results go here, so that no engine may leave the work out. */
let sink: unknown;

/** How long `work` takes, in milliseconds. */
export function elapsedMs(work: () => unknown): number {
  const start = process.hrtime.bigint();
  sink = work();
  const nanoseconds = process.hrtime.bigint() - start;
  return sink === elapsedMs ? 0 : Number(nanoseconds) / 1e6;
}
