const UPDATE_TIME = /^(\d{1,12})\.(\d{1,9})$/u;

/** Below zero when a document's update time `a` is that of an earlier commit than `b`. Throws RangeError. */
export function compareUpdateTimes(a: string, b: string): number {
  const [secondsA, nanosA] = parts(a);
  const [secondsB, nanosB] = parts(b);
  return secondsA - secondsB || nanosA - nanosB;
}

function parts(time: string): [seconds: number, nanos: number] {
  const [, seconds, nanos] = UPDATE_TIME.exec(time) ?? [];
  if (seconds === undefined || nanos === undefined) throw new RangeError(`no update time: ${time}`);
  return [Number(seconds), Number(nanos)];
}
