import { describe, expect, test } from 'vitest';
import { createMemoryCache } from '#functions/adapters/system/memory-cache.ts';
import { readConversation, readHistory } from '#shared/conversation/context/read-conversation.ts';
import { plainSource, rewriteHistory } from '#test/support/stored-histories.ts';
import { compacted, lifecycle, setConversation } from '#test/support/chat/lifecycle.ts';

const SECRET = 'a changed summary';

/** A conversation of generation 1 whose history is in the cache, and then differs in the store. */
async function withStaleCache(conversation: Record<string, number> = {}) {
  const world = lifecycle();
  const conversationId = await compacted(world);
  const source = {
    ...plainSource(world.store),
    cache: createMemoryCache({ maxBytes: 1_000_000 }),
  };
  const read = async () => {
    const found = await readConversation(world.store, conversationId);
    if (!found) throw new Error('there is no head');
    return readHistory(source, { conversationId, conversation: found.value, generation: 1 });
  };
  await read();
  await setConversation(world, conversationId, conversation);
  await rewriteHistory(world.store, { conversationId, generation: 1 }, { snapshotText: SECRET });
  return { world, conversationId, read };
}

describe('a history in the cache', () => {
  test('a cached history is served while no turn has changed', async () => {
    const { read } = await withStaleCache();

    expect((await read())?.snapshotText).not.toBe(SECRET);
  });

  test('a cached history is read again after a turn has changed', async () => {
    const { read } = await withStaleCache({ generation: 2, changedIn: 2 });

    expect((await read())?.snapshotText).toBe(SECRET);
  });

  test('a cached history is not used while a turn that it covers is being erased', async () => {
    const { world, conversationId, read } = await withStaleCache({ generation: 2, changedIn: 2 });
    await setConversation(world, conversationId, {
      pendingErasure: { since: world.bench.clock.now(), seqs: [3] },
    });

    expect((await read())?.snapshotText).toBe('');
    const snapshotText = 'erased meanwhile';
    await rewriteHistory(world.store, { conversationId, generation: 1 }, { snapshotText });
    await world.store.commit([
      {
        op: 'update',
        path: `conversations/${conversationId}`,
        fields: {},
        remove: ['pendingErasure'],
        guard: { exists: true },
      },
    ]);
    expect((await read())?.snapshotText).toBe('erased meanwhile');
  });
});
