import type { ManualClock } from '#test/fakes/manual-clock.ts';
import { setImmediate } from 'node:timers/promises';

const STEPS_MAX = 2_000;
/** Turns of the event loop between two steps: enough for a read and a commit of everyone who waits. */
const TURNS_PER_STEP = 20;

/** Lets time pass in steps until `promise` settles, and gives what it gives. Throws Error when it does not. */
export async function passTime<T>(
  clock: ManualClock,
  promise: Promise<T>,
  stepMs = 250,
): Promise<T> {
  const settled = new AbortController();
  const settle = () => settled.abort();
  promise.then(settle, settle);
  for (let step = 0; step < STEPS_MAX; step++) {
    if (settled.signal.aborted) return promise;
    for (let turn = 0; turn < TURNS_PER_STEP; turn++) await setImmediate();
    clock.advance(stepMs);
  }
  throw new Error(`not settled after ${STEPS_MAX * stepMs} ms`);
}
