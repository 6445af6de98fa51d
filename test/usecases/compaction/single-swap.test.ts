import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { historiesOf } from '#test/support/chat/lifecycle.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, test } from 'vitest';

describe('duplicate deliveries', () => {
  test.each([
    ['automatic', autoRequest()],
    ['manual', manualRequest()],
  ])('five deliveries of one %s request make one swap and one model call', async (_, need) => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { conversation: { compactionRequests: need } });

    for (let delivery = 0; delivery < 5; delivery++) await compactOnce(bench, conversationId);

    expect(await historiesOf(bench, conversationId)).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(1);
  });

  test('an event for a conversation that does not exist is acknowledged', async () => {
    const bench = compactionBench();

    const result = await compactOnce(bench, 'nobody');

    expect(result).toEqual({ kind: 'done', reason: 'NOT_LIVE' });
  });

  test('two workers starting together make one swap, and the other is told to retry', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const results = await Promise.all([
      compactOnce(bench, conversationId),
      compactOnce(bench, conversationId),
    ]);

    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['done', 'later']);
    expect(await historiesOf(bench, conversationId)).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(1);
  });

  test('a worker that outlived its lease loses the swap to the new holder', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const slowBench = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async () => {
            // The slow worker's clock stands still: its lease expires without a renewal.
            const fresh = compactionBench({ ...bench, clock: compactionBench().clock });
            fresh.clock.advance(120_000);
            await compactOnce(fresh, conversationId);
            return snapshotAnswer('Written too late.');
          },
          snapshotAnswer('Written too late.'),
        ],
      }),
    });

    const result = await compactOnce(slowBench, conversationId);

    const { conversation, text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect(conversation.generation).toBe(1);
    expect(text).not.toContain('too late');
  });
});

test('a worker whose lease was taken after verification changes nothing', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench);
  const overtaken = compactionBench({
    ...bench,
    atCrashPoint: async (name) => {
      if (name !== 'verified') return;
      await bench.store.commit([
        {
          op: 'update',
          path: compactionJobPath(conversationId),
          fields: { owner: 'another', fence: 2 },
          guard: { exists: true },
        },
      ]);
    },
  });

  const result = await compactOnce(overtaken, conversationId);

  const { conversation, job } = await see(bench.store, conversationId);
  expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
  expect(conversation).toMatchObject({ generation: 0, coveredThrough: { seq: 0 } });
  expect(job).toMatchObject({ owner: 'another', fence: 2, records: [] });
  expect(await historiesOf(bench, conversationId)).toHaveLength(0);
});
