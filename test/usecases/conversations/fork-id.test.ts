import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import {
  deleteConversation,
  eraseOwnConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { addTurn, buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { slowWrites } from '#test/fakes/slow-writes.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { dyingAt, compacted, lifecycle, owner, stranger } from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import { fork, transcript } from '#test/support/chat/forks.ts';

describe('a fork under an id', () => {
  test('a fork requested again under its id is the same fork', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    const first = await fork(world, conversationId, 'message-2', id);
    await addTurn(world.store, id, { user: 'More.', answer: 'Yes.' });

    const second = await fork(world, conversationId, 'message-2', id);

    expect(first).toMatchObject({ conversationId: id, isNew: true });
    expect(second).toMatchObject({
      conversationId: id,
      isNew: false,
      conversation: { lastSeq: 3 },
    });
  });

  test('a fork id of another message or an existing conversation is refused', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    await fork(world, conversationId, 'message-2', id);
    const other = await createConversation(world.chat, { caller: owner, fields: {} });

    for (const [messageId, taken] of [
      ['message-1', id],
      ['message-2', other.conversationId],
    ] as const)
      await expect(fork(world, conversationId, messageId, taken)).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'IDEMPOTENCY_KEY_REUSED',
      });
  });

  test.each([
    ['that is in the bin', deleteConversation],
    ['that is being erased', eraseOwnConversation],
  ])('a fork id %s cannot be used, and the field is named', async (_, remove) => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    await fork(world, conversationId, 'message-2', id);
    await remove(world.chat, { caller: owner, conversationId: id });

    await expect(fork(world, conversationId, 'message-2', id)).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
      metadata: { field: 'id' },
      publicMessage: expect.stringContaining('Draw a new id'),
    });
  });

  test('a fork whose source is erased meanwhile is erased with it', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    const chat = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name === 'fork-copied')
          await eraseOwnConversation(world.chat, { caller: owner, conversationId });
      },
    };

    await expect(fork({ chat }, conversationId, 'message-2', id)).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
    });

    expect((await readConversation(world.store, id))?.value.state).toBe('erasing');
    expect(world.chat.published.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ kind: 'erase', conversationId: id }),
    );
  });

  test('a fork id that belongs to another user is not found', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const theirs = await createConversation(world.chat, { caller: stranger, fields: {} });

    await expect(
      fork(world, conversationId, 'message-2', theirs.conversationId),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test.each(['fork-begun', 'fork-cleared', 'fork-batch-copied', 'fork-copied', 'fork-live'])(
    'a fork that died when it had reached %s is finished by the same request',
    async (point) => {
      const world = lifecycle();
      const conversationId = await compacted(world);
      const id = randomUUID();
      const dying = { chat: { ...world.chat, ...dyingAt(point) } };
      await expect(fork(dying, conversationId, 'message-20', id)).rejects.toThrow('died');

      const forked = await fork(world, conversationId, 'message-20', id);

      expect(forked.conversation).toMatchObject({ state: 'live', lastSeq: 20, generation: 1 });
      expect(await transcript(world, id, 30)).toEqual(await transcript(world, conversationId, 20));
    },
  );

  test('a fork takes nothing of an earlier try for its own, however long that takes to delete', async () => {
    const world = lifecycle({}, compactionBench, slowWrites());
    const { conversationId } = await buildConversation(world.store, { turns: 4 });
    const id = randomUUID();
    const dying = { chat: { ...world.chat, ...dyingAt('fork-copied') } };
    await expect(fork(dying, conversationId, 'message-4', id)).rejects.toThrow('died');

    await fork(world, conversationId, 'message-4', id);

    expect(await transcript(world, id, 4)).toEqual(await transcript(world, conversationId, 4));
  });

  test('an incomplete fork is not found', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    const dying = { chat: { ...world.chat, ...dyingAt('fork-copied') } };
    await expect(fork(dying, conversationId, 'message-2', id)).rejects.toThrow('died');

    await expect(
      readOwnConversation(world.chat, { caller: owner, conversationId: id }),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
    await expect(sendMessage(world.chat, request(id, 'Hello.'))).rejects.toMatchObject({
      status: 'NOT_FOUND',
    });
  });

  test('a fork that a second request makes meanwhile is attributed to that one', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    let isFirst = true;
    const held = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name !== 'fork-cleared' || !isFirst) return;
        isFirst = false;
        await fork(world, conversationId, 'message-2', id);
      },
    };

    const first = fork({ chat: held }, conversationId, 'message-2', id);

    await expect(first).rejects.toMatchObject({ reason: 'FORK_TAKEN_OVER', retryable: true });
    expect(await fork(world, conversationId, 'message-2', id)).toMatchObject({ isNew: false });
    expect(await transcript(world, id, 3)).toEqual(await transcript(world, conversationId, 2));
  });

  test.each([
    ['the head', (id: string) => conversationPath(id)],
    ['a copied turn', (id: string) => turnPath(id, 1)],
  ])('a fork survives the lost reply of the batch of %s', async (_, pathOf) => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    world.loseReplyOf(({ path }) => path === pathOf(id));

    const forked = await fork(world, conversationId, 'message-2', id);

    expect(forked.conversation).toMatchObject({ state: 'live', lastSeq: 2 });
  });

  test('a fork survives the lost reply of the batch that publishes it', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    world.loseReplyOf((write) => write.op === 'update' && write.fields['state'] === 'live');

    const forked = await fork(world, conversationId, 'message-2');

    expect(forked).toMatchObject({ isNew: true, conversation: { state: 'live', lastSeq: 2 } });
  });
});
