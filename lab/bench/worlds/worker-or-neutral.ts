import { setTimeout as delay } from 'node:timers/promises';
import type { LoadWorld } from './load.ts';
import { type CompactionWeight, startNeutralLoad } from './neutral-load.ts';
import type { TimedTurn } from './steady-chat.ts';

/** The worker alone, before chat is compared: from this the weight of a compaction is known. */
const WEIGHED_MS = 10_000;
/** Worker and neutral load take turns, so that whatever else the machine does falls on both. */
const SLICE_MS = 2_000;
const SLICES = 20;
/** Of a slice, at its beginning and end: turns in which both had a part. */
const EDGE_MS = 250;

/** What the worker did in `WEIGHED_MS`. */
export async function weigh(world: LoadWorld): Promise<CompactionWeight> {
  const look = async () => ({ ...(await world.figures()), modelCpuMs: await world.modelCpuMs() });
  const before = await look();
  await delay(WEIGHED_MS);
  const after = await look();
  const compacted = after.compacted - before.compacted;
  if (compacted === 0) throw new Error('the worker compacted nothing');
  return {
    compacted,
    perSecond: compacted / (WEIGHED_MS / 1_000),
    reads: after.reads - before.reads,
    commits: after.commits - before.commits,
    writes: after.writes - before.writes,
    cpuMs: after.cpuMs - before.cpuMs + after.modelCpuMs - before.modelCpuMs,
  };
}

/** When a slice began, and whose it was. */
interface Slice {
  of: 'worker' | 'neutral';
  atMs: number;
}

/**
 * Worker and a neutral load of the same weight, in turns. Ends before the last conversations: a worker without a queue
 * weighs nothing.
 */
export async function takeTurns(
  world: LoadWorld,
  { weight, conversations }: { weight: CompactionWeight; conversations: number },
): Promise<Slice[]> {
  const most = conversations - SLICE_MS * (weight.perSecond / 1_000);
  const neutral = await startNeutralLoad(weight);
  neutral.pause();
  const slices: Slice[] = [];
  try {
    for (let n = 0; n < SLICES && (await world.figures()).compacted < most; n++) {
      slices.push({ of: 'worker', atMs: performance.now() });
      await delay(SLICE_MS);
      world.pauseWorker();
      neutral.resume();
      slices.push({ of: 'neutral', atMs: performance.now() });
      await delay(SLICE_MS);
      neutral.pause();
      world.resumeWorker();
    }
  } finally {
    await neutral.close();
  }
  return slices;
}

/** Latencies in ms of the turns that began within slices of one of both. */
export const turnsOf = (
  turns: readonly TimedTurn[],
  slices: readonly Slice[],
  input: Slice['of'],
) =>
  turns
    .filter(({ startedAtMs }) =>
      slices.some(
        (slice) =>
          slice.of === input &&
          startedAtMs >= slice.atMs + EDGE_MS &&
          startedAtMs < slice.atMs + SLICE_MS - EDGE_MS,
      ),
    )
    .map(({ ms }) => ms);
