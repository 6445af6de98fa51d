import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import {
  buildDue,
  type CompactionBench,
  inSeconds,
  quiet,
  storedConversation,
  sweep,
  sweepBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, test } from 'vitest';

/** How many documents there are below a conversation. */
const countBelow = async (bench: CompactionBench, conversationId: string) => {
  const collections = ['turns', 'messages', 'histories', 'jobs', 'public'];
  const found = await Promise.all(
    collections.map((name) =>
      bench.store.query({ collection: `${conversationPath(conversationId)}/${name}`, limit: 500 }),
    ),
  );
  return found.flat().length;
};

describe('what is to be erased', () => {
  test.each<[string, (bench: CompactionBench) => Partial<Conversation>]>([
    ['is marked as erasing', () => ({ state: 'erasing' })],
    [
      'was deleted long enough ago',
      (bench) => ({ state: 'deleted', purgeTime: inSeconds(bench, -1) }),
    ],
    ['has expired', (bench) => ({ state: 'live', expireTime: inSeconds(bench, -1) })],
    [
      'has expired after it was deleted',
      (bench) => ({ state: 'deleted', expireTime: inSeconds(bench, -1) }),
    ],
    [
      'is a fork that nobody finished',
      (bench) => ({ state: 'forking', createTime: inSeconds(bench, -601) }),
    ],
  ])('a conversation that %s is erased by a sweep to its tombstone', async (_, conversation) => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, {
      turns: 3,
      conversation: { ...conversation(bench), ...quiet },
    });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ conversationsErased: 1, failed: 0 });
    expect(await countBelow(bench, conversationId)).toBe(0);
    expect((await storedConversation(bench, conversationId))?.state).toBe('erased');
  });

  test.each<[string, (bench: CompactionBench) => Partial<Conversation>]>([
    [
      'was deleted a moment ago',
      (bench) => ({ state: 'deleted', purgeTime: inSeconds(bench, 10), ...quiet }),
    ],
    [
      'was restored from its deletion',
      (bench) => ({ state: 'live', purgeTime: inSeconds(bench, -1) }),
    ],
    ['expires later', (bench) => ({ state: 'live', expireTime: inSeconds(bench, 10) })],
    [
      'is a fork that is being copied',
      (bench) => ({ state: 'forking', createTime: inSeconds(bench, -599) }),
    ],
  ])('a conversation that %s is not erased by a sweep', async (_, conversation) => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, { turns: 3, conversation: conversation(bench) });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ conversationsErased: 0, failed: 0 });
    expect(await countBelow(bench, conversationId)).toBe(6);
  });

  test('a sweep removes a tombstone at its expiry, not before', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, { turns: 3, conversation: { state: 'erasing' } });
    await sweep(bench);

    bench.clock.advance(29 * 24 * 60 * 60_000);
    const early = await sweep(bench);
    bench.clock.advance(2 * 24 * 60 * 60_000);
    const late = await sweep(bench);

    expect([early.tombstonesDropped, late.tombstonesDropped]).toEqual([0, 1]);
    expect(await storedConversation(bench, conversationId)).toBeUndefined();
  });

  test('a sweep finishes an abandoned erasure of a turn', async () => {
    const bench = sweepBench();
    const since = inSeconds(bench, -61);
    const conversationId = await buildDue(bench, {
      turns: 3,
      conversation: { pendingErasure: { since, seqs: [2] }, ...quiet },
    });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ erasuresFinished: 1, failed: 0 });
    expect((await storedConversation(bench, conversationId))?.pendingErasure).toBeUndefined();
  });

  test('a sweep finishes an erasure that stopped half way', async () => {
    let left = 1;
    const store = createMemoryDocumentStore({
      beforeOperation: (operation) =>
        operation.name === 'deleteBelow' && left-- > 0
          ? Promise.reject(new StoreUnavailableError({ operation: 'delete' }))
          : Promise.resolve(),
    });
    const bench = sweepBench({ store });
    const conversationId = await buildDue(bench, { turns: 3, conversation: { state: 'erasing' } });

    const first = await sweep(bench);
    const second = await sweep(bench);

    expect([first.failed, second.failed]).toEqual([1, 0]);
    expect(await countBelow(bench, conversationId)).toBe(0);
  });
});
