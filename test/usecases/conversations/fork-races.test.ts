import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { addTurn, buildConversation } from '#test/support/compaction/conversation-builder.ts';
import {
  CANARY,
  compacted,
  lifecycle,
  owner,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import { fork, transcript } from '#test/support/chat/forks.ts';

test('a fork stays whole when a stalled maker is overtaken', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, { turns: 3 });
  const id = randomUUID();
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const slow: Lifecycle['chat'] = {
    ...world.chat,
    atCrashPoint: (point) => {
      if (point === 'fork-begun') reached.resolve();
      return point === 'fork-begun' ? held.promise : Promise.resolve();
    },
  };
  const stalled = fork({ chat: slow }, conversationId, 'm_3', id).catch(() => undefined);
  await reached.promise;
  await fork(world, conversationId, 'm_3', id);

  held.resolve();
  await stalled;

  expect(await transcript(world, id, 3)).toEqual(await transcript(world, conversationId, 3));
});

describe('a source that changes while it is copied', () => {
  /** Does something to the source, once, when all is copied. */
  const meanwhile = (world: Lifecycle, change: () => Promise<unknown>) => {
    let isDone = false;
    return {
      chat: {
        ...world.chat,
        atCrashPoint: async (name: string) => {
          if (name !== 'fork-copied' || isDone) return;
          isDone = true;
          await change();
        },
      },
    };
  };

  test('a source with a new message during a fork is copied as it was', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const racing = meanwhile(world, () =>
      addTurn(world.store, conversationId, { user: 'Late.', answer: 'Yes.' }),
    );

    const forked = await fork(racing, conversationId, 'message-3');

    expect(forked.conversation.lastSeq).toBe(3);
  });

  test('a source with a deleted message during a fork is copied again without it', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const racing = meanwhile(world, () =>
      deleteMessage(world.chat, { caller: owner, conversationId, messageId: 'message-3' }),
    );

    const forked = await fork(racing, conversationId, 'message-20');

    const below = (await world.documents()).filter(({ path }) =>
      path.startsWith(conversationPath(forked.conversationId)),
    );
    expect(JSON.stringify(below)).not.toContain(CANARY);
    expect(below.filter(({ path }) => path.includes('/turns/'))).toHaveLength(20);
  });

  test('deleting the source ends the fork', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const racing = meanwhile(world, () =>
      deleteConversation(world.chat, { caller: owner, conversationId }),
    );

    await expect(fork(racing, conversationId, 'message-3')).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
    });
  });

  test('a source that keeps changing fails the fork as retryable', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 9 });
    let next = 1;
    const chat = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name !== 'fork-copied') return;
        const messageId = `message-${next++}`;
        await deleteMessage(world.chat, { caller: owner, conversationId, messageId });
      },
    };

    await expect(fork({ chat }, conversationId, 'message-9')).rejects.toMatchObject({
      reason: 'CONVERSATION_BUSY',
      retryable: true,
    });
  });
});
