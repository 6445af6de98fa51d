import { markErasing, eraseConversation } from '#functions/erasure/erase-conversation.ts';
import type { CompactionCrashPoint } from '#functions/lib/crash-points.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import {
  buildDue,
  compactOnce,
  neverAborted,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, test } from 'vitest';

async function erase(bench: CompactionBench, conversationId: string) {
  await markErasing(bench, conversationId, () => true);
  await eraseConversation(
    { ...bench, atCrashPoint: () => Promise.resolve() },
    conversationId,
    neverAborted(),
  );
}

/** Runs a compaction that meets the erasure of its conversation at one place. */
async function compactAndErase(
  bench: CompactionBench,
  conversationId: string,
  point: CompactionCrashPoint,
) {
  let erased = 0;
  const met = compactionBench({
    ...bench,
    atCrashPoint: async (name) => {
      if (name !== point) return;
      erased += 1;
      await erase(bench, conversationId);
    },
  });
  const result = await compactOnce(met, conversationId);
  return { result, erased };
}

/** The conversation document's state, and how many documents there are below it. */
async function remains(bench: CompactionBench, conversationId: string) {
  return {
    state: (await readConversation(bench.store, conversationId))?.value.state,
    below: await bench.store.deleteBelow(conversationPath(conversationId)),
  };
}

const tombstoneAlone = { state: 'erased', below: 0 };

describe('a conversation that is erased while a worker', () => {
  test.each<[CompactionCrashPoint]>([
    ['received'],
    ['before-claim'],
    ['claimed'],
    ['planned'],
    ['summarised'],
    ['status-written'],
    ['verified'],
    ['before-swap'],
    ['swapped'],
    ['settled'],
    ['reported'],
  ])('a conversation erased while a worker is at %s leaves nothing below it', async (point) => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const { erased } = await compactAndErase(bench, conversationId, point);

    expect(erased).toBeGreaterThan(0);
    expect(await remains(bench, conversationId)).toEqual(tombstoneAlone);
  });

  test('a conversation erased while a worker records a failure leaves nothing below it', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [''] }) });
    const conversationId = await buildDue(bench);

    await compactAndErase(bench, conversationId, 'record-written');

    expect(await remains(bench, conversationId)).toEqual(tombstoneAlone);
  });

  test('a conversation erased while a request is settled leaves nothing below it', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: 2 });

    const { result } = await compactAndErase(bench, conversationId, 'received');

    expect(result).toEqual({ kind: 'done', reason: 'NOT_LIVE' });
    expect(await remains(bench, conversationId)).toEqual(tombstoneAlone);
  });

  test('a conversation erased at the first lease gets no further event', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const { result } = await compactAndErase(bench, conversationId, 'before-claim');

    expect(result).toEqual({ kind: 'done', reason: 'NOT_LIVE' });
    expect(bench.model.calls).toEqual([]);
  });
});
