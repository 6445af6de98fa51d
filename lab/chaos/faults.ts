import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { Random } from './random.ts';
import type { Tally } from './report.ts';
import type { ChaosWorld } from './world.ts';
import { setTimeout as delay } from 'node:timers/promises';

/** More than this wait for their request only when nobody asks the model. */
const MOST_WAITING = 6;

const faults: readonly { weight: number; draw: (random: Random) => Fault }[] = [
  { weight: 4, draw: (random) => ({ kind: 'quota', retryDelayMs: random.integer(100, 1_500) }) },
  { weight: 3, draw: () => ({ kind: 'internal' }) },
  { weight: 4, draw: () => ({ kind: 'unavailable' }) },
  { weight: 1, draw: () => ({ kind: 'htmlBadGateway' }) },
  { weight: 5, draw: (random) => ({ kind: 'cut', afterEvents: random.integer(0, 4) }) },
  { weight: 2, draw: (random) => ({ kind: 'silentEnd', afterEvents: random.integer(1, 4) }) },
  { weight: 2, draw: (random) => ({ kind: 'halfEvent', afterEvents: random.integer(0, 4) }) },
  { weight: 1, draw: () => ({ kind: 'errorEvent' }) },
  { weight: 3, draw: (random) => ({ kind: 'stall', delayMs: random.integer(300, 3_000) }) },
  { weight: 3, draw: (random) => ({ kind: 'delay', delayMs: random.integer(300, 2_500) }) },
  { weight: 2, draw: () => ({ kind: 'emptyCandidates' }) },
  { weight: 1, draw: () => ({ kind: 'emptyCandidates', shape: 'noParts' }) },
  { weight: 2, draw: (random) => ({ kind: 'safety', afterEvents: random.integer(0, 2) }) },
  { weight: 1, draw: () => ({ kind: 'blockedPrompt' }) },
  { weight: 2, draw: () => ({ kind: 'maxTokens' }) },
  { weight: 1, draw: () => ({ kind: 'missingUsage' }) },
  { weight: 1, draw: () => ({ kind: 'openEnd' }) },
  { weight: 1, draw: (random) => ({ kind: 'splitBytes', sizeBytes: random.integer(1, 7) }) },
];

const roles = ['chat', 'utility_compressor'] as const;

/** Lets requests to the fake Gemini meet faults, and counts those that did. */
function createModelFaults(fakeGemini: FakeGemini, random: Random, tally: Tally) {
  const waiting = { chat: 0, utility_compressor: 0 };

  /** Counts what was met since the last time; the journal of the fake Gemini forgets. */
  function count(): void {
    for (const { role, fault } of fakeGemini.journal()) {
      if (fault === undefined) continue;
      tally.countFault(`model: ${fault}`);
      const known = roles.find((each) => each === role);
      if (known) waiting[known] -= 1;
    }
    fakeGemini.clearJournal();
  }

  return {
    /** One of the next requests meets a fault; every fourth time it is one for a summary. */
    queue: (): void => {
      count();
      const role = random.chance(0.25) ? 'utility_compressor' : 'chat';
      if (waiting[role] >= MOST_WAITING) return;
      waiting[role] += 1;
      const fault = random.weighted(faults).draw(random);
      fakeGemini.queueFaults({ ...fault, match: { role } });
    },
    stop: (): void => {
      fakeGemini.clearFaults();
      count();
    },
  };
}

/** Does something again and again, with pauses between `min` and `max` ms, until `signal` fires. */
export async function repeatedly(
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
  const victim = random.pick(running);
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

/** Kills, model faults, lost replies and stops, each at its own seeded rate, until `signal` fires. */
export async function driveFaults(
  world: ChaosWorld,
  { random, tally, signal }: { random: Random; tally: Tally; signal: AbortSignal },
): Promise<void> {
  const modelFaults = createModelFaults(world.fakeGemini, random.fork('model'), tally);
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
    repeatedly(stops, async () => {
      const start = world.firestoreProxy.standStill();
      tally.countFault('Firestore stops for 20 s');
      await delay(STOPPED_MS, undefined, { signal }).catch(() => undefined);
      start();
    }),
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
