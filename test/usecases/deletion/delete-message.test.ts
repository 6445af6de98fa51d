import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import { chunkPath, historyPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';
import {
  CANARY,
  canaries,
  compacted,
  lifecycle,
  owner,
  setConversation,
  shortConversation,
  stranger,
  type Lifecycle,
  removeMessage,
} from '#test/support/chat/lifecycle.ts';

async function messagesAfter({ chat }: Lifecycle, conversationId: string, afterSeq: number) {
  const page = { caller: owner, conversationId, pageSize: 10, order: 'asc', afterSeq } as const;
  return (await listMessages(chat, page)).messages;
}

describe('deleting a message of the tail', () => {
  test('deleting a message erases question and answer and keeps their places', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);

    const view = await removeMessage(world, conversationId, 'message-2');

    const messages = await messagesAfter(world, conversationId, 0);
    expect(view).toMatchObject({ id: 'message-2', seq: 2, parts: [], deleted: true });
    expect(messages.map(({ id, deleted }) => [id, deleted ?? false])).toEqual([
      ['message-1', false],
      ['m_1', false],
      ['message-2', true],
      ['m_2', true],
      ['message-3', false],
      ['m_3', false],
    ]);
    expect(await canaries(world)).toEqual([]);
  });

  test('deleting a message removes it from context and meter', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const before = await see(world.store, conversationId);

    await removeMessage(world, conversationId, 'message-2');

    const after = await see(world.store, conversationId);
    expect(after.items.map(({ seq }) => seq)).toEqual([1, 1, 3, 3]);
    expect(after.tokens).toBeLessThan(before.tokens);
    expect(after.conversation).toMatchObject({ generation: 1, changedIn: 1, lastSeq: 3 });
    expect(after.conversation.pendingErasure).toBeUndefined();
  });

  test('deleting an answer alone keeps the question, out of the context', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);

    const view = await removeMessage(world, conversationId, 'm_2');

    const messages = await messagesAfter(world, conversationId, 1);
    expect(view).toMatchObject({ id: 'm_2', parts: [], deleted: true });
    expect(messages[0]).toMatchObject({ parts: [{ text: `I say ${CANARY}.` }], inContext: false });
    expect(messages[0]?.deleted).toBeUndefined();
    expect((await see(world.store, conversationId)).items.map(({ seq }) => seq)).toEqual([
      1, 1, 3, 3,
    ]);
  });

  test('deleting an answer alone keeps a question of several documents', async () => {
    const world = lifecycle();
    const user = `${CANARY} `.repeat(40_000);
    const answer = 'a long answer '.repeat(40_000);
    const { conversationId } = await buildConversation(world.store, {
      turns: [{ user, answer }, {}],
    });

    await removeMessage(world, conversationId, 'm_1');

    const [turn] = await readTurns(world.store, conversationId, [1]);
    expect(turn?.value).toMatchObject({ user: { parts: [{ text: user }] }, contents: [] });
    const pieces = (await world.documents()).filter(({ path }) => path.includes('/parts/'));
    expect(pieces.map(({ path }) => path.split('/').at(-1))).toEqual(['u-1']);
    await removeMessage(world, conversationId, 'message-1');
    expect(await canaries(world)).toEqual([]);
  });

  test('deleting a message after its answer erases the question too', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    await removeMessage(world, conversationId, 'm_2');

    await removeMessage(world, conversationId, 'message-2');

    expect(await canaries(world)).toEqual([]);
  });

  test('deleting a message twice is the same as once', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const first = await removeMessage(world, conversationId, 'message-2');

    const second = await removeMessage(world, conversationId, 'message-2');

    expect(second).toEqual(first);
    expect((await see(world.store, conversationId)).conversation.generation).toBe(1);
  });

  test('deleting a message whose reply is lost is found by its nonce', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    world.loseReplyOf(({ path }) => path === historyPath(conversationId, 1));

    const view = await removeMessage(world, conversationId, 'message-2');

    expect(view).toMatchObject({ deleted: true });
    expect((await see(world.store, conversationId)).conversation.generation).toBe(1);
  });

  test('deleting a failed message erases it and leaves the summaries alone', async () => {
    const world = lifecycle();
    const turns = Array.from({ length: 20 }, (_, i) =>
      i === 2 ? { user: 'Broken.', state: 'failed' as const, inContext: false } : {},
    );
    const conversationId = await compacted(world, { turns });
    const before = await see(world.store, conversationId);

    await removeMessage(world, conversationId, 'message-3');

    const after = await see(world.store, conversationId);
    expect(after.history?.snapshotText).toBe(before.history?.snapshotText);
    expect(after.history?.snapshotText).not.toBe('');
    const [first] = await historiesOf(world, conversationId);
    expect(first?.fields['erased']).toBeUndefined();
  });

  test('deleting a message removes the pins that came from it', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const pin = { text: CANARY, source: 'detected' };
    await setConversation(world, conversationId, {
      pins: [
        { id: 'p1', ...pin, seq: 2 },
        { id: 'p2', text: 'stays', source: 'api' },
      ],
    });

    await removeMessage(world, conversationId, 'message-2');

    expect((await see(world.store, conversationId)).conversation.pins).toMatchObject([
      { id: 'p2' },
    ]);
    expect(await canaries(world)).toEqual([]);
  });

  test('deleting a message removes overflow pieces and stream chunks', async () => {
    const world = lifecycle();
    const { store } = world;
    const { conversationId } = await buildConversation(store, {
      turns: [{ user: `${CANARY} `.repeat(40_000), answer: `${CANARY}! `.repeat(40_000) }],
    });
    const chunk = chunkPath({ conversationId, seq: 1, attempt: 1 }, { lastId: 1, producer: 'p' });
    await store.commit([{ op: 'create', path: chunk, fields: { text: CANARY } }]);
    expect((await canaries(world)).length).toBeGreaterThan(3);

    await removeMessage(world, conversationId, 'message-1');

    expect(await canaries(world)).toEqual([]);
  });
});

describe('what cannot be deleted', () => {
  test.each(['message-9', 'm_9', 'm_2', randomUUID()])(
    'an unknown message cannot be deleted: %s',
    async (id) => {
      const world = lifecycle();
      const { conversationId } = await buildConversation(world.store, {
        turns: [{}, { state: 'failed', answer: [] }],
      });

      await expect(removeMessage(world, conversationId, id)).rejects.toMatchObject({
        status: 'NOT_FOUND',
        reason: 'MESSAGE_NOT_FOUND',
      });
    },
  );

  test.each(['running', 'queued'])(
    'a message whose turn is %s cannot be deleted',
    async (state) => {
      const world = lifecycle();
      const conversationId = await shortConversation(world);
      const path = turnPath(conversationId, 2);
      await world.store.commit([
        { op: 'update', path, fields: { state }, guard: { exists: true } },
      ]);

      await expect(removeMessage(world, conversationId, 'message-2')).rejects.toMatchObject({
        status: 'ABORTED',
        reason: 'TURN_IN_PROGRESS',
      });
    },
  );

  test('another user’s message cannot be deleted, as if it were missing', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const request = { caller: stranger, conversationId, messageId: 'message-2' };

    await expect(deleteMessage(world.chat, request)).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
    });
  });
});
