import { describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import { eraseCrashPoints } from '#functions/lib/crash-points.ts';
import { neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { erase, remainsOf, serveErasures } from '#test/support/compaction/erasing.ts';
import { compacted, dyingAt, lifecycle, owner } from '#test/support/chat/lifecycle.ts';

describe('an erasure that is interrupted', () => {
  test.each(Object.keys(eraseCrashPoints))(
    'an erasure interrupted at %s is finished by the next',
    async (point) => {
      const world = lifecycle();
      const conversationId = await compacted(world);
      await eraseUser(world.chat, { caller: owner });
      const dying = { ...world.bench, ...dyingAt(point) };
      await expect(eraseConversation(dying, conversationId, neverAborted())).rejects.toThrow(
        'died',
      );

      await serveErasures(world);

      expect(await remainsOf(world)).toEqual([]);
    },
  );

  test('an erasure interrupted by its signal is finished by the next', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await eraseUser(world.chat, { caller: owner });
    const controller = new AbortController();
    const store = {
      ...world.store,
      deleteBelow: (path: string, signal?: AbortSignal) => {
        setImmediate(() => controller.abort(new Error('stopped')));
        return world.store.deleteBelow(path, signal);
      },
    };
    const stopped = eraseConversation({ ...world.bench, store }, conversationId, controller.signal);
    await expect(stopped).rejects.toThrow('stopped');

    await serveErasures(world);

    expect(await remainsOf(world)).toEqual([]);
  });

  test('an erasure whose tombstone reply is lost is finished by the next', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await eraseUser(world.chat, { caller: owner });
    world.loseReplyOf((write) => write.op === 'update' && write.fields['state'] === 'erased');
    await expect(
      eraseConversation(world.bench, conversationId, neverAborted()),
    ).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE' });

    expect(await eraseConversation(world.bench, conversationId, neverAborted())).toBe('nothing');
    expect(await remainsOf(world)).toEqual([]);
  });

  test('a conversation’s erasure completes an unfinished erasure of one message', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const dying = { ...world.chat, ...dyingAt('message-wiped') };
    await expect(
      deleteMessage(dying, { caller: owner, conversationId, messageId: 'message-3' }),
    ).rejects.toThrow('died');

    await erase(world);

    expect(await remainsOf(world)).toEqual([]);
  });
});
