import { setImmediate } from 'node:timers/promises';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { pushEvent } from '#test/kill-matrix/push.ts';
import type { ManualClock } from '#test/fakes/manual-clock.ts';

/** As deployed: five workers of eight pushes each, back-off from 10 s to 10 minutes, eight deliveries. */
export const PUSHES_AT_ONCE = 40;
const MIN_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 600_000;
const DELIVERIES_MAX = 8;

const STEP_MS = 1_000;

/** A Pub/Sub whose time is that of a clock that a test moves. */
interface SimulatedBus {
  publish(event: { data: object }): Promise<void>;
  /** Deliveries that were refused, or whose worker died. */
  refused: number;
  deadLetters: object[];
  /** Lets this much time pass, a second at a time, with all that happens in it. */
  pass(ms: number, eachSecond: (elapsedMs: number) => Promise<void>): Promise<void>;
}

/** `activity` rises with everything that happens in the process. */
export function createSimulatedBus(
  worker: (data: object) => CompactionDependencies,
  clock: ManualClock,
  activity: () => number,
): SimulatedBus {
  const queue: { data: object; deliveries: number }[] = [];
  let inFlight = 0;

  async function deliver(message: { data: object; deliveries: number }): Promise<void> {
    message.deliveries += 1;
    const { handled, answer } = pushEvent(worker(message.data), {
      id: 'simulated',
      data: message.data,
    });
    await handled.catch(() => undefined);
    inFlight -= 1;
    if (answer()?.isAcknowledged === true) return;
    bus.refused += 1;
    if (message.deliveries >= DELIVERIES_MAX) {
      bus.deadLetters.push(message.data);
      return;
    }
    const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (message.deliveries - 1));
    await clock.wait(backoffMs);
    queue.push(message);
  }

  /** Until nothing happens any more at this time. */
  async function settle(): Promise<void> {
    for (let quiet = 0, before = -1; quiet < 30;) {
      while (queue.length > 0 && inFlight < PUSHES_AT_ONCE) {
        inFlight += 1;
        const message = queue.shift();
        if (message) void deliver(message);
      }
      await setImmediate();
      quiet = activity() === before ? quiet + 1 : 0;
      before = activity();
    }
  }

  const bus: SimulatedBus = {
    publish: ({ data }) => {
      queue.push({ data, deliveries: 0 });
      return Promise.resolve();
    },
    refused: 0,
    deadLetters: [],
    async pass(ms, eachSecond) {
      for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += STEP_MS) {
        await settle();
        await eachSecond(elapsedMs);
        clock.advance(STEP_MS);
      }
      await settle();
    },
  };
  return bus;
}
