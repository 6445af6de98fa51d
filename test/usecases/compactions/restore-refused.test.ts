import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { geminiCliBench } from '#test/support/compaction/compaction-dependencies.ts';
import {
  compactAgain,
  compacted,
  lifecycle,
  owner,
  stranger,
} from '#test/support/chat/lifecycle.ts';
import { restore } from '#test/support/compaction/restoring.ts';

describe('what cannot be restored', () => {
  test('a generation that was never made cannot be restored', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await expect(restore(world, conversationId, 2)).rejects.toMatchObject({
      status: 'NOT_FOUND',
      reason: 'GENERATION_NOT_FOUND',
    });
  });

  test('the requestId of a restore cannot restore another generation', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await compactAgain(world, conversationId);
    const back = (generation: number) =>
      restoreGeneration(world.chat, {
        caller: owner,
        conversationId,
        generation,
        requestId: 'back',
        locale: undefined,
      });
    const restored = await back(1);

    await expect(back(0)).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_KEY_REUSED',
      metadata: { restoredFrom: '1' },
    });
    expect(await back(1)).toEqual(restored);
  });

  test('a generation that mentioned a deleted message cannot be restored', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    await deleteMessage(world.chat, { caller: owner, conversationId, messageId: 'message-3' });

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
    const [second] = await world.store.get([historyPath(conversationId, 3)]);
    // What an edit of a turn that only the second summary covers leaves.
    await world.store.commit([
      {
        op: 'update',
        path: second?.path ?? '',
        fields: { state: 'CHANGED', changedFromSeq: conversation.coveredThrough.seq + 1 },
        guard: { exists: true },
      },
    ]);

    await expect(restore(world, conversationId, 2)).rejects.toMatchObject({
      reason: 'GENERATION_OUTDATED',
    });
    expect(await restore(world, conversationId, 1)).toMatchObject({ restoredFrom: 1 });
  });

  test('another user’s generation is refused as if it were missing', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const request = { conversationId, generation: 0, locale: undefined };

    await expect(
      restoreGeneration(world.chat, { ...request, caller: stranger }),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });
});
