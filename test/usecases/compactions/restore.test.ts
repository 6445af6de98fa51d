import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { historyPath, statusPath } from '#shared/conversation/documents/paths.ts';
import {
  compactAgain,
  compacted,
  lifecycle,
  removeMessage,
  stranger,
  restore,
  historiesOf,
} from '#test/support/chat/lifecycle.ts';
import {
  compactOnce,
  see,
  geminiCliBench,
  updateDocument,
} from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, test } from 'vitest';

test('restoring generation 0 makes every turn stand word for word again, at no cost', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);

  const record = await restore(world, conversationId, 0);

  const { conversation, items, text, tokens } = await see(world.store, conversationId);
  const [status] = await world.store.get([statusPath(conversationId)]);
  const restored = { state: 'RESTORED', generation: 2, restoredFrom: 0 };
  expect(record).toMatchObject({ ...restored, upTo: 0, costMicros: 0 });
  expect(record.message).toContain('in use again');
  expect(conversation).toMatchObject({ generation: 2, coveredThrough: { seq: 0 }, changedIn: 2 });
  expect(new Set(items.map(({ seq }) => seq)).size).toBe(21);
  expect(text).toContain('Question 1:');
  expect(status?.fields).toMatchObject({ generation: 2, tokens });
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

test('a restore over the hard threshold requests a compaction at once, and tells of both', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);

  await restore(world, conversationId, 0);

  const { conversation } = await see(world.store, conversationId);
  const { auto } = conversation.compactionRequests;
  expect(auto).toMatchObject({ trigger: 'overflow' });
  const requestId = auto?.requestId;
  expect(world.chat.published).toMatchObject([{ topic: 'compaction', data: { requestId } }]);
  const data = { type: 'compaction.restored', conversationId, generation: 2, restoredFrom: 0 };
  expect(world.chat.told).toMatchObject([
    { topic: 'events', data },
    { topic: 'events', data: { type: 'compaction.requested' } },
  ]);
  await compactOnce(world.bench, conversationId);
  expect((await see(world.store, conversationId)).conversation).toMatchObject({ generation: 3 });
});

describe('a restore happens once', () => {
  test('a restore repeated with its request id is the same restore', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const first = await restore(world, conversationId, 0, 'request-r');
    await restore(world, conversationId, 1, 'request-s');

    const again = await restore(world, conversationId, 0, 'request-r');

    expect(again).toEqual(first);
    expect(await historiesOf(world, conversationId)).toHaveLength(3);
  });

  test.each([
    ['generation 1, in force', 1, []],
    ['generation 0, in force again', 0, [0]],
  ])('restoring what is there already changes nothing: %s', async (_, wanted, restored) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    for (const generation of restored) await restore(world, conversationId, generation);
    const before = await see(world.store, conversationId);

    const record = await restore(world, conversationId, wanted);

    expect(record.generation).toBe(before.conversation.generation);
    expect((await see(world.store, conversationId)).conversation).toEqual(before.conversation);
  });
});

test('a generation that was never made, or another user’s, cannot be restored', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);
  const missing = { status: 'NOT_FOUND', reason: 'GENERATION_NOT_FOUND' };
  const foreign = { caller: stranger, conversationId, generation: 0, locale: undefined };

  await expect(restore(world, conversationId, 2)).rejects.toMatchObject(missing);
  await expect(restoreGeneration(world.chat, foreign)).rejects.toMatchObject({
    reason: 'CONVERSATION_NOT_FOUND',
  });
});

test('the requestId of a restore cannot restore another generation', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);
  await compactAgain(world, conversationId);
  const restored = await restore(world, conversationId, 1, 'back');

  await expect(restore(world, conversationId, 0, 'back')).rejects.toMatchObject({
    reason: 'IDEMPOTENCY_KEY_REUSED',
    metadata: { restoredFrom: '1' },
  });
  expect(await restore(world, conversationId, 1, 'back')).toEqual(restored);
});

test('a generation that mentioned a deleted message cannot be restored', async () => {
  const world = lifecycle({}, geminiCliBench);
  const conversationId = await compacted(world);
  await removeMessage(world, conversationId, 'message-3');

  await expect(restore(world, conversationId, 1)).rejects.toMatchObject({
    status: 'FAILED_PRECONDITION',
    reason: 'GENERATION_ERASED',
  });
});

test('a generation that mentioned an edited message cannot be restored, an earlier one can', async () => {
  const world = lifecycle({}, geminiCliBench);
  const conversationId = await compacted(world);
  const { conversation } = await see(world.store, conversationId);
  await compactAgain(world, conversationId);
  await restore(world, conversationId, 0);
  // What an edit of a turn that only the second summary covers leaves.
  const changedFromSeq = conversation.coveredThrough.seq + 1;
  const path = historyPath(conversationId, 3);
  await updateDocument(world.store, path, { state: 'CHANGED', changedFromSeq });

  await expect(restore(world, conversationId, 2)).rejects.toMatchObject({
    reason: 'GENERATION_OUTDATED',
  });
  expect(await restore(world, conversationId, 1)).toMatchObject({ restoredFrom: 1 });
});
