import { setTimeout as delay } from 'node:timers/promises';
import { buildCrossed, settledOf, type Settled } from './crossed-conversations.ts';
import { type LoadWorld, startLoadWorld, untilAcknowledged, type WorkerFigures } from './load.ts';
import type { CompactionWeight } from './neutral-load.ts';
import { createSteadyChat, type SteadyChat, type TimedTurn } from './steady-chat.ts';
import { takeTurns, turnsOf, weigh } from './worker-or-neutral.ts';

/** What is loaded once and compiled is not measured. */
const WARM_UP_MS = 6_000;
const MOST_MS = 240_000;

/** What chat felt of a thousand conversations that crossed their threshold at once. */
export interface QueueRun {
  settled: Settled;
  /** Pushes that the worker refused, and how many it acknowledged. */
  figures: WorkerFigures;
  weight: CompactionWeight;
  /** Latencies of turns in ms: beside the queue, beside the neutral load, and beside nothing. */
  beside: number[];
  neutral: number[];
  alone: number[];
  /** Processor time of chat for a turn, beside nothing. */
  chatCpuMs: number;
}

const tell = (text: string): void => void process.stderr.write(`load: ${text}\n`);

async function during<T>(
  chat: SteadyChat,
  work: () => Promise<T>,
): Promise<{ turns: TimedTurn[]; result: T }> {
  const ended = new AbortController();
  const measured = chat.during(ended.signal);
  const result = await work().finally(() => ended.abort());
  return { turns: await measured, result };
}

async function runIn(world: LoadWorld, conversations: number): Promise<QueueRun> {
  const chat = createSteadyChat(world.chatUrl);
  const ids = await buildCrossed(world.store, conversations, (built) =>
    tell(`${built} of ${conversations} conversations stored`),
  );
  const [warmUp = ''] = await buildCrossed(world.store, 1, () => undefined);
  await during(chat, () => Promise.all([world.publish([warmUp]), delay(WARM_UP_MS)]));
  tell('chat alone');
  const chatBeforeMs = await world.chatCpuMs();
  const alone = await during(chat, () => delay(WARM_UP_MS));
  const chatCpuMs = ((await world.chatCpuMs()) - chatBeforeMs) / alone.turns.length;
  tell(`${conversations} needs at once; chat beside the worker and beside a neutral load in turns`);
  const published = world.publish(ids);
  const { turns, result } = await during(chat, async () => {
    const weight = await weigh(world);
    return { weight, slices: await takeTurns(world, { weight, conversations }) };
  });
  await published;
  tell(`${(await world.figures()).compacted} of ${conversations} compacted`);
  // And the one of the warm-up.
  await untilAcknowledged(world, conversations + 1, MOST_MS);
  chat.close();
  return {
    settled: await settledOf(world.store, ids),
    figures: await world.figures(),
    weight: result.weight,
    beside: turnsOf(turns, result.slices, 'worker'),
    neutral: turnsOf(turns, result.slices, 'neutral'),
    alone: alone.turns.map(({ ms }) => ms),
    chatCpuMs,
  };
}

/**
 * So many conversations cross their threshold at once. One worker works them off while users of others write at a steady
 * pace; a part of the time it is held, and work of the same weight that has nothing to do with chat takes its place.
 * Throws Error where no emulators are installed.
 */
export async function runQueue(conversations: number): Promise<QueueRun> {
  const world = await startLoadWorld();
  try {
    return await runIn(world, conversations);
  } finally {
    await world.close();
  }
}
