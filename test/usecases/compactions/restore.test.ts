import { describe, expect, test } from 'vitest';
import { showContext } from '#functions/chat/context/show-context.ts';
import {
  compactAgain,
  compacted,
  lifecycle,
  owner,
  setConversation,
} from '#test/support/chat/lifecycle.ts';
import {
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { restore } from '#test/support/compaction/restoring.ts';

describe('restoring a generation', () => {
  test('restoring generation 0 makes every turn stand word for word again', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    const record = await restore(world, conversationId, 0);

    const { conversation, items, text } = await see(world.store, conversationId);
    expect(record).toMatchObject({
      state: 'RESTORED',
      generation: 2,
      restoredFrom: 0,
      upTo: 0,
      costMicros: 0,
    });
    expect(record.message).toContain('in use again');
    expect(conversation).toMatchObject({ generation: 2, coveredThrough: { seq: 0 }, changedIn: 2 });
    expect(new Set(items.map(({ seq }) => seq)).size).toBe(21);
    expect(text).toContain('Question 1:');
  });

  test('restoring an earlier generation brings its snapshot back and keeps later turns verbatim', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const before = await see(world.store, conversationId);
    await compactAgain(world, conversationId);

    const record = await restore(world, conversationId, 1);

    const { conversation, history, items } = await see(world.store, conversationId);
    expect(record).toMatchObject({ generation: 3, restoredFrom: 1 });
    expect(conversation.coveredThrough).toEqual(before.conversation.coveredThrough);
    expect(history?.snapshotText).toBe(before.history?.snapshotText);
    const seqs = new Set(items.flatMap(({ seq }) => seq ?? []));
    expect(seqs.size).toBe(conversation.lastSeq - conversation.coveredThrough.seq);
  });

  test('a restore drops waiting requests and makes none below the hard threshold', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world, {
      conversation: { settings: { thresholdTokens: 2_000 } },
    });
    await setConversation(world, conversationId, {
      compactionRequests: { ...manualRequest('late') },
    });

    await restore(world, conversationId, 0);

    const { conversation, history, tokens } = await see(world.store, conversationId);
    expect(conversation.compactionRequests).toEqual({});
    expect(history?.afterTokens).toBe(tokens);
    expect(world.chat.published).toEqual([]);
  });

  test('a restore requests a compaction at once over the hard threshold', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await restore(world, conversationId, 0);

    const { conversation } = await see(world.store, conversationId);
    expect(conversation.compactionRequests.auto).toMatchObject({ trigger: 'overflow' });
    expect(world.chat.published).toMatchObject([
      { topic: 'compaction', data: { requestId: conversation.compactionRequests.auto?.requestId } },
    ]);
    await compactOnce(world.bench, conversationId);
    expect((await see(world.store, conversationId)).conversation).toMatchObject({ generation: 3 });
  });

  test('a restore publishes the generation in force to the events topic', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await restore(world, conversationId, 0);

    expect(world.chat.told).toMatchObject([
      {
        topic: 'events',
        data: { type: 'compaction.restored', conversationId, generation: 2, restoredFrom: 0 },
      },
      { topic: 'events', data: { type: 'compaction.requested' } },
    ]);
  });

  test('a restore requests no compaction where the conversation is compacted by hand', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, { 'settings.compaction': 'manual' });

    await restore(world, conversationId, 0);

    expect((await see(world.store, conversationId)).conversation.compactionRequests).toEqual({});
  });
});

test('the context after a restore is the same on an instance with a cached conversation', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);
  await showContext(world.otherChat, { caller: owner, conversationId });

  await restore(world, conversationId, 0);

  const here = await showContext(world.chat, { caller: owner, conversationId });
  const there = await showContext(world.otherChat, { caller: owner, conversationId });
  expect(there).toEqual(here);
  expect(here.generation).toBe(2);
});
