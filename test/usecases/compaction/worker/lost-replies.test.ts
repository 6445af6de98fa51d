import { describe, expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

/** Applies the first swap, loses its reply, and the reply of the read that follows. */
function createDeafStore() {
  let isSwapLost = false;
  let isCheckLost = false;
  const away = () => new StoreUnavailableError({ operation: 'swap' });
  return createMemoryDocumentStore({
    beforeOperation: async (operation) => {
      await Promise.resolve();
      if (!isSwapLost || isCheckLost || operation.name !== 'get') return;
      isCheckLost = true;
      throw away();
    },
    afterCommit: async (writes) => {
      await Promise.resolve();
      if (isSwapLost || !writes.some(({ path }) => path.includes('/histories/'))) return;
      isSwapLost = true;
      throw away();
    },
  });
}

/** A store that loses the reply to the first commit of a path with `part`, and the lost paths. */
function losingOneReply(part: string) {
  const lost: string[] = [];
  const store = createMemoryDocumentStore({
    afterCommit: async (writes) => {
      await Promise.resolve();
      const found = writes.find(({ path }) => path.includes(part));
      if (lost.length > 0 || !found) return;
      lost.push(found.path);
      throw new StoreUnavailableError({ operation: 'commit' });
    },
  });
  return { store, lost };
}

describe('lost replies', () => {
  test('a swap whose reply is lost is COMPACTED, once', async () => {
    const { store, lost } = losingOneReply('/histories/');
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(lost).toHaveLength(1);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
    expect(job?.records).toHaveLength(1);
  });

  test('a swap without reply or check is settled by the next delivery', async () => {
    const bench = compactionBench({ store: createDeafStore() });
    const conversationId = await buildDue(bench);

    const first = await compactOnce(bench, conversationId);
    const second = await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(first.kind).toBe('retry');
    expect(second).toEqual({ kind: 'done', reason: 'SETTLED' });
    expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
    expect(job?.records).toMatchObject([{ state: 'COMPACTED' }]);
    expect(bench.model.calls).toHaveLength(1);
  });

  test('a claim whose reply is lost still belongs to its worker', async () => {
    const { store, lost } = losingOneReply('/jobs/compaction');
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(lost).toHaveLength(1);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect((await see(bench.store, conversationId)).job?.fence).toBe(1);
  });

  test('a swap that the store refuses for a while is repeated', async () => {
    let refused = 0;
    const store = createMemoryDocumentStore({
      beforeOperation: async (operation) => {
        await Promise.resolve();
        const isSwap =
          operation.name === 'commit' &&
          operation.writes.some(({ path }) => path.includes('/histories/'));
        if (!isSwap || refused === 2) return;
        refused += 1;
        throw new StoreUnavailableError({ operation: 'commit' });
      },
    });
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(refused).toBe(2);
    expect(result).toMatchObject({ state: 'COMPACTED' });
  });
});
