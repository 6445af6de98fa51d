import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { requestEvent, sweepEvent } from '#shared/compaction/event.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { madeUpAnswer } from '#test/support/compaction/conversation-builder.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';
import { overloaded } from '#test/support/model-down.ts';
import { createSimulatedBus, PUSHES_AT_ONCE } from '#test/support/processes/simulated-bus.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { expect, test } from 'vitest';

const CONVERSATIONS = searchCases(1_000);
const SUMMARY_MS = 15_000;
const SWEEP_MS = 300_000;
const PASSING_MS = 25 * 60_000;
const PAUSE_MS = 10_000;
/** A lease, and the time between two sweeps. */
const SIX_MINUTES_MS = 60_000 + SWEEP_MS;

/** Of each conversation: when it was compacted, and when a worker died at it. */
interface Fate {
  compactedMs?: number;
  diedMs?: number;
}

const lastOfLiving = (fates: readonly Fate[]) =>
  Math.max(
    ...fates
      .filter(({ diedMs }) => diedMs === undefined)
      .map(({ compactedMs = Infinity }) => compactedMs),
  );

/**
 * Conversations that are due at once, each told of twice, as by a duplicate. A summary takes 15 seconds. For every
 * fifth the model is overloaded once, and every fiftieth worker dies between summary and swap.
 */
async function runThousand(): Promise<{
  fates: Fate[];
  histories: number[];
  refused: number;
  letters: object[];
}> {
  let activity = 0;
  const clock = createManualClock();
  const startMs = clock.now().getTime();
  const store = createMemoryDocumentStore({
    beforeOperation: () => {
      activity += 1;
      return Promise.resolve();
    },
  });
  const bench = compactionBench({
    clock,
    store,
    publisher: {
      publish: ({ topic, data }) =>
        topic === 'compaction' ? bus.publish({ data }) : Promise.resolve(),
    },
  });
  const ids: string[] = [];
  const turns = [1, 2, 3, 4].map((seq) => ({ answer: madeUpAnswer(seq).repeat(3) }));
  for (let i = 0; i < CONVERSATIONS; i += 1) ids.push(await buildDue(bench, { turns }));
  const fates = ids.map((): Fate => ({}));
  const asked = new Set<number>();

  const bus = createSimulatedBus(
    (data) => {
      const index = ids.indexOf(String(Reflect.get(data, 'conversationId')));
      const fate = fates[index];
      return {
        ...bench,
        model: createScriptedModel({
          answers: [
            async (_, signal) => {
              const isFirst = !asked.has(index);
              asked.add(index);
              if (isFirst && index % 5 === 0) throw overloaded();
              await clock.wait(SUMMARY_MS, signal);
              return snapshotAnswer();
            },
          ],
        }),
        atCrashPoint: (point) => {
          activity += 1;
          if (fate && point === 'swapped') fate.compactedMs ??= clock.now().getTime() - startMs;
          if (!fate || point !== 'before-swap' || index % 50 !== 1 || fate.diedMs !== undefined)
            return Promise.resolve();
          fate.diedMs = clock.now().getTime() - startMs;
          return Promise.reject(new Error('died'));
        },
      };
    },
    clock,
    () => activity,
  );

  for (const copy of ['first', 'again'])
    for (const conversationId of ids)
      await bus.publish({ data: requestEvent({ conversationId, requestId: copy }) });
  await bus.pass(PASSING_MS, async (elapsedMs) => {
    if (elapsedMs % SWEEP_MS === SWEEP_MS / 2) await bus.publish({ data: sweepEvent });
  });
  const histories = await Promise.all(ids.map(async (id) => (await historiesOf(bench, id)).length));
  const conversations = await Promise.all(ids.map((id) => readConversation(store, id)));
  expect(conversations.filter((each) => each?.value.compactionRequests.auto)).toEqual([]);
  return { fates, histories, refused: bus.refused, letters: bus.deadLetters };
}

test('a thousand conversations due at once are compacted once each, without a dead letter or delay', async () => {
  const { fates, histories, refused, letters } = await runThousand();

  const dead = fates.filter(({ diedMs }) => diedMs !== undefined);
  const lastMs = Math.max(...fates.map(({ compactedMs = Infinity }) => compactedMs));
  const untilRevivedMs = Math.max(
    ...dead.map(({ compactedMs = Infinity, diedMs = 0 }) => compactedMs - diedMs),
  );
  expect(histories.filter((count) => count !== 1)).toEqual([]);
  expect(letters).toEqual([]);
  // Nothing is refused but what a dead worker did not answer.
  expect(refused).toBe(dead.length);
  // All places are busy until the last summary; the overloaded and the dead come back behind the others.
  const busyMs = (CONVERSATIONS / PUSHES_AT_ONCE) * SUMMARY_MS;
  expect(lastMs).toBeLessThanOrEqual(busyMs + SIX_MINUTES_MS + SUMMARY_MS);
  expect(lastOfLiving(fates)).toBeLessThanOrEqual(busyMs + 2 * SUMMARY_MS + PAUSE_MS);
  expect(untilRevivedMs).toBeLessThanOrEqual(SIX_MINUTES_MS + SUMMARY_MS);
}, 300_000);
