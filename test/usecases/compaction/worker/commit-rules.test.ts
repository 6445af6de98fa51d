import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import {
  buildDue,
  compactOnce,
  neverAborted,
  see,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { modelDown } from '#test/support/model-down.ts';
import { expect, test } from 'vitest';

function recordingBench(overrides: Partial<CompactionBench> = {}) {
  const recorded = recordCommits();
  const store = createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation });
  return { bench: compactionBench({ store, ...overrides }), recorded };
}

test.each<{
  name: string;
  turns: number;
  isModelDown: boolean;
  commits: number;
}>([
  { name: 'that swaps', turns: 20, isModelDown: false, commits: 5 },
  { name: 'that fails', turns: 20, isModelDown: true, commits: 2 },
  { name: 'without work', turns: 2, isModelDown: false, commits: 2 },
])(
  'every commit of a run $name is guarded by what it read',
  async ({ turns, isModelDown, commits }) => {
    const answers = isModelDown ? [modelDown()] : [snapshotAnswer()];
    const { bench, recorded } = recordingBench({ model: createScriptedModel({ answers }) });
    const conversationId = await buildDue(bench, { turns });
    recorded.commits.length = 0;

    await compactOnce(bench, conversationId);

    expect(recorded.commits).toHaveLength(commits);
    expect(recorded.brokenRules()).toEqual([]);
  },
);

test('every lease renewal of the worker is guarded by what it read', async () => {
  const { bench, recorded } = recordingBench();
  const conversationId = await buildDue(bench);
  const slow = compactionBench({
    ...bench,
    model: createScriptedModel({
      answers: [
        async () => {
          const before = recorded.commits.length;
          bench.clock.advance(20_000);
          await expect.poll(() => recorded.commits.length).toBeGreaterThan(before);
          return snapshotAnswer();
        },
        snapshotAnswer(),
      ],
    }),
  });
  recorded.commits.length = 0;

  await compactOnce(slow, conversationId);

  expect((await see(bench.store, conversationId)).conversation.generation).toBe(1);
  expect(recorded.brokenRules()).toEqual([]);
});

test('every commit of a sweep is guarded by what it read', async () => {
  const { bench, recorded } = recordingBench();
  const now = bench.clock.now();
  await buildDue(bench, {
    conversation: { state: 'deleted', open: { seq: 20, leaseUntil: new Date(0) } },
  });
  await buildDue(bench, { conversation: { open: { seq: 20, leaseUntil: new Date(0) } }, now });
  recorded.commits.length = 0;

  await runSweep(bench, neverAborted());

  expect(recorded.commits.length).toBeGreaterThan(1);
  expect(recorded.brokenRules()).toEqual([]);
});
