import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosWorld } from './chaos-world.ts';
import type { FunctionProcess } from './function-process.ts';
import { ModelFaults } from './model-faults.ts';
import type { Random } from './random.ts';
import type { Tally } from './checks/tally.ts';

/** Does something again and again, with pauses between `min` and `max` ms, until `signal` fires. */
async function repeatedly(
  pause: { random: Random; minMs: number; maxMs: number; signal: AbortSignal },
  run: () => Promise<void> | void,
): Promise<void> {
  const { random, minMs, maxMs, signal } = pause;
  while (!signal.aborted) {
    await delay(random.integer(minMs, maxMs), undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await run();
  }
}

/** Of the ends of a process, those that are announced. */
const TERMINATED_SHARE = 0.4;

async function endOne(world: ChaosWorld, random: Random, tally: Tally): Promise<void> {
  const running = world.processes.filter((process) => process.isRunning());
  if (running.length === 0) return;
  const victim: FunctionProcess = random.pick(running);
  const input = victim.name.split(':', 1)[0] ?? '';
  if (random.chance(TERMINATED_SHARE)) {
    await victim.terminate();
    tally.terminations += 1;
    tally.countFault(`SIGTERM: ${input}`);
  } else {
    await victim.kill();
    tally.kills += 1;
    tally.countFault(`kill -9: ${input}`);
  }
  await delay(random.integer(50, 1_500));
  await world.start(victim);
}

/** So long Firestore answers nobody: longer than any lease lasts, and any call of it. */
const STOPPED_MS = 20_000;

async function stopFirestore(
  { firestoreProxy }: ChaosWorld,
  { tally, signal }: { tally: Tally; signal: AbortSignal },
): Promise<void> {
  const start = firestoreProxy.standStill();
  tally.countFault('Firestore stops for 20 s');
  await delay(STOPPED_MS, undefined, { signal }).catch(() => undefined);
  start();
}

/** Kills, model faults, lost replies and stops, each at its own seeded rate, until `signal` fires. */
export async function driveFaults(
  world: ChaosWorld,
  { random, tally, signal }: { random: Random; tally: Tally; signal: AbortSignal },
): Promise<void> {
  const modelFaults = new ModelFaults(world.fakeGemini, random.fork('model'), (name) =>
    tally.countFault(name),
  );
  const rate = (name: string, minMs: number, maxMs: number) => ({
    random: random.fork(name),
    minMs,
    maxMs,
    signal,
  });
  // Two killers: now and then two processes are down at once.
  const kills = [rate('kill 1', 2_000, 7_000), rate('kill 2', 5_000, 15_000)];
  const firestore = rate('firestore', 1_500, 5_000);
  const pubsub = rate('pubsub', 300, 1_500);
  const stops = rate('stops', 25_000, 60_000);
  await Promise.all([
    ...kills.map((pause) => repeatedly(pause, () => endOne(world, pause.random, tally))),
    repeatedly(rate('model rate', 100, 700), () => modelFaults.queue()),
    repeatedly(firestore, () => world.firestoreProxy.loseReply(firestore.random)),
    repeatedly(stops, () => stopFirestore(world, { tally, signal })),
    repeatedly(pubsub, () => world.pubsubProxy.loseReply(pubsub.random)),
  ]);
  modelFaults.stop();
  tally.faults.set('lost reply: Firestore', world.firestoreProxy.lostCount());
  tally.faults.set('lost reply: Pub/Sub', world.pubsubProxy.lostCount());
}

/** Kills every process and starts it again without faults of its own. */
export async function restartCalm(world: ChaosWorld): Promise<void> {
  world.calm();
  // A slow model gave the kills their chance; what is left to do is now done as fast as it can be.
  world.fakeGemini.setTiming({ timeToFirstTokenMs: 0, tokensPerSecond: 50_000 });
  await Promise.all(
    world.processes.map(async (process) => {
      await process.kill();
      await world.start(process);
    }),
  );
}
