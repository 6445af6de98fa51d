import { describe, expect, test } from 'vitest';
import {
  compactionJobPath,
  conversationPath,
  historyPath,
} from '#shared/conversation/documents/paths.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';

const setConversation = (
  bench: CompactionBench,
  conversationId: string,
  fields: Record<string, number | string>,
) =>
  bench.store.commit([
    { op: 'update', path: conversationPath(conversationId), fields, guard: { exists: true } },
  ]);

describe('a conversation that goes on', () => {
  test('turns arriving during a compaction stay verbatim behind the snapshot', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const busy = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async () => {
            await addTurn(bench.store, conversationId, { user: 'Late one', answer: 'Answered.' });
            await addTurn(bench.store, conversationId, { user: 'Late two', answer: 'Answered.' });
            return snapshotAnswer();
          },
        ],
      }),
    });

    const result = await compactOnce(busy, conversationId);

    const { conversation, items, text } = await see(bench.store, conversationId);
    const seqs = [...new Set(items.flatMap(({ seq }) => seq ?? []))];
    const first = conversation.coveredThrough.seq + 1;
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(conversation.lastSeq).toBe(22);
    expect(seqs).toEqual(Array.from({ length: 22 - first + 1 }, (_, index) => first + index));
    expect(text).toContain('Late one');
    expect(text).toContain('Late two');
  });

  test('a request that chat replaced during a compaction is not removed', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const replacing = compactionBench({
      ...bench,
      atCrashPoint: async (name) => {
        if (name !== 'swapped') return;
        await bench.store.commit([
          {
            op: 'update',
            path: conversationPath(conversationId),
            fields: { 'compactionRequests.auto.requestId': 'request-2' },
            guard: { exists: true },
          },
        ]);
      },
    });

    await compactOnce(replacing, conversationId);

    const { conversation } = await see(bench.store, conversationId);
    expect(conversation.compactionRequests.auto?.requestId).toBe('request-2');
  });

  test.each(['summarised', 'verified'])(
    'a conversation deleted when the worker has %s stays as it was deleted',
    async (point) => {
      const bench = compactionBench();
      const conversationId = await buildDue(bench);
      const deleting = compactionBench({
        ...bench,
        atCrashPoint: async (name) => {
          if (name === point)
            await setConversation(bench, conversationId, { state: 'deleted', generation: 1 });
        },
      });

      const result = await compactOnce(deleting, conversationId);

      const { conversation } = await see(bench.store, conversationId);
      expect(result).toMatchObject({ kind: 'done', state: 'SUPERSEDED', reason: 'NOT_LIVE' });
      expect(conversation).toMatchObject({ state: 'deleted', generation: 1 });
      expect(conversation.coveredThrough.seq).toBe(0);
      expect(await historiesOf(bench, conversationId)).toHaveLength(0);
    },
  );

  test('a conversation erased during a compaction gets no document back', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const erasing = compactionBench({
      ...bench,
      atCrashPoint: async (name) => {
        if (name !== 'summarised') return;
        await bench.store.commit([
          { op: 'delete', path: compactionJobPath(conversationId) },
          { op: 'delete', path: conversationPath(conversationId) },
        ]);
      },
    });

    const result = await compactOnce(erasing, conversationId);

    const documents = await bench.store.get([
      conversationPath(conversationId),
      compactionJobPath(conversationId),
      historyPath(conversationId, 1),
    ]);
    expect(result).toMatchObject({ kind: 'done', state: 'SUPERSEDED', reason: 'NOT_LIVE' });
    expect(documents).toEqual([undefined, undefined, undefined]);
  });

  test('another change of the generation wins, and the compaction is retried', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const editing = compactionBench({
      ...bench,
      atCrashPoint: async (name) => {
        if (name === 'verified') await setConversation(bench, conversationId, { generation: 1 });
      },
    });

    const result = await compactOnce(editing, conversationId);

    const { conversation, job } = await readWithoutHistory(bench, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'GENERATION_MOVED' });
    expect(conversation?.fields['coveredThrough']).toEqual({ seq: 0, contentIndex: 0 });
    expect(job?.fields['owner']).toBe('');
  });
});

/** The conversation document as it lies there; its generation has no history document in this test. */
async function readWithoutHistory(bench: CompactionBench, conversationId: string) {
  const [conversation, job] = await bench.store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  return { conversation, job };
}
