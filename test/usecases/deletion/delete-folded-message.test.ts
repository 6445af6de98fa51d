import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { slowWrites } from '#test/fakes/slow-writes.ts';
import {
  compactionBench,
  geminiCliBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import {
  manualRequest,
  compactOnce,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';
import {
  dyingAt,
  CANARY,
  canaries,
  compactAgain,
  compacted,
  lifecycle,
  owner,
  setConversation,
  removeMessage,
} from '#test/support/chat/lifecycle.ts';

describe('deleting a message that a summary without sources covers', () => {
  test('deleting a folded message restores the state before it and erases its summaries', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    await compactAgain(world, conversationId);
    expect((await canaries(world)).length).toBeGreaterThan(2);

    await removeMessage(world, conversationId, 'message-3');

    const { conversation, history, text } = await see(world.store, conversationId);
    expect(conversation).toMatchObject({ generation: 3, coveredThrough: { seq: 0 } });
    expect(history).toMatchObject({ state: 'CHANGED', changedFromSeq: 3, snapshotText: '' });
    expect(text).toContain('Question 1:');
    expect(await canaries(world)).toEqual([]);
    const histories = await historiesOf(world, conversationId);
    expect(histories.map(({ fields }) => fields['erased'])).toEqual([true, true, undefined]);
  });

  test('no summary says a deleted message any more once its deletion is answered', async () => {
    const world = lifecycle({}, geminiCliBench, slowWrites());
    const conversationId = await compacted(world);

    await removeMessage(world, conversationId, 'message-3');

    expect(await canaries(world)).toEqual([]);
  });

  test('deleting a folded message keeps the newest summary that ends before it', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    const first = await see(world.store, conversationId);
    await compactAgain(world, conversationId);
    const { seq } = first.conversation.coveredThrough;

    await removeMessage(world, conversationId, `message-${seq + 1}`);

    const { conversation, history } = await see(world.store, conversationId);
    expect(conversation.coveredThrough.seq).toBe(seq);
    expect(history?.snapshotText).toBe(first.history?.snapshotText);
  });

  test('deleting a folded message requests a compaction where turns exceed the threshold again', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);

    await removeMessage(world, conversationId, 'message-3');

    const { conversation } = await see(world.store, conversationId);
    expect(conversation.compactionRequests.auto).toMatchObject({ trigger: 'auto' });
    expect(world.chat.published).toHaveLength(1);
    await compactOnce(world.bench, conversationId);
    expect((await see(world.store, conversationId)).conversation.generation).toBe(3);
  });

  test('deleting a folded message requests a compaction also on a restored generation', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world, {
      conversation: { settings: { thresholdTokens: 2_000 } },
    });
    for (const generation of [0, 1])
      await restoreGeneration(world.chat, {
        caller: owner,
        conversationId,
        generation,
        locale: undefined,
      });
    await compactAgain(world, conversationId, 3);

    await removeMessage(world, conversationId, 'message-3');

    const { conversation, history } = await see(world.store, conversationId);
    expect(history).toMatchObject({ coveredThrough: { seq: 0 }, afterTokens: 0 });
    expect(conversation.compactionRequests.auto).toMatchObject({ trigger: 'auto' });
    expect(await compactOnce(world.bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });

  test('deleting a folded message requests a compaction also beside a manual request', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, {
      compactionRequests: { ...manualRequest('by-hand') },
    });

    await removeMessage(world, conversationId, 'message-3');

    const { conversation } = await see(world.store, conversationId);
    expect(conversation.compactionRequests).toMatchObject({
      auto: { trigger: 'auto' },
      manual: { requestId: 'by-hand' },
    });
  });

  test('deleting a folded message makes a worker that has read it lose', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, {
      compactionRequests: { ...manualRequest('in-flight') },
    });
    const held = compactionBench({
      ...world.bench,
      atCrashPoint: async (name) => {
        if (name === 'verified') await removeMessage(world, conversationId, 'message-3');
      },
    });

    await compactOnce(held, conversationId);

    expect(await canaries(world)).toEqual([]);
    expect((await see(world.store, conversationId)).conversation.coveredThrough.seq).toBe(0);
  });

  test('deleting a folded message hides it from another instance’s cache', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    await compactAgain(world, conversationId);
    const show = (generation?: number) =>
      showContext(world.otherChat, { caller: owner, conversationId, generation });
    await show();
    expect(JSON.stringify(await show(1))).toContain(CANARY);

    await removeMessage(world, conversationId, 'message-3');

    for (const generation of [undefined, 0])
      expect(JSON.stringify(await show(generation))).not.toContain(CANARY);
    for (const generation of [1, 2])
      await expect(show(generation)).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        reason: 'GENERATION_ERASED',
        metadata: { generation: String(generation) },
      });
  });

  test('a late deletion leaves a newer compaction unchanged', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    const dying = { chat: { ...world.chat, ...dyingAt('message-wiped') } };
    await expect(removeMessage(dying, conversationId, 'message-3')).rejects.toThrow('died');
    await compactOnce(world.bench, conversationId);
    const before = await see(world.store, conversationId);
    expect(before.conversation.generation).toBe(3);

    await finishErasure(world.chat, conversationId);

    const after = await see(world.store, conversationId);
    expect(after.history).toEqual(before.history);
    expect(after.conversation.pendingErasure).toBeUndefined();
  });
});
