import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { chunkPath, turnPath, messageGuardPath } from '#shared/conversation/documents/paths.ts';
import {
  CANARY,
  canaries,
  compacted,
  lifecycle,
  owner,
  setConversation,
  shortConversation,
  type Lifecycle,
  removeMessage,
  historiesOf,
} from '#test/support/chat/lifecycle.ts';
import { regenerate, shownTexts, request, answered, turnsOf } from '#test/support/chat/sending.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

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
});

describe('deleting a regenerated message', () => {
  /** A message with the canary, answered three times. */
  async function regenerated({ chat }: Pick<Lifecycle, 'chat'>) {
    const id = randomUUID();
    const asked = request(id, `The word is ${CANARY}.`);
    await answered(chat, asked);
    const again = regenerate(id, 'm_1');
    await answered(chat, again);
    await answered(chat, regenerate(id, 'm_2'));
    return { id, messageIds: [asked.message.id, again.message.id] };
  }

  test.each([0, 1])(
    'deleting a regenerated message erases it from every turn (named by turn %#)',
    async (index) => {
      const world = lifecycle();
      const { id, messageIds } = await regenerated(world);

      await removeMessage(world, id, messageIds[index] ?? '');

      expect(await canaries(world)).toEqual([]);
      expect(await shownTexts(world.chat, id)).toEqual([]);
      const page = { caller: owner, conversationId: id, pageSize: 10, order: 'asc' } as const;
      const { messages } = await listMessages(world.chat, { ...page, afterSeq: 0 });
      expect(messages.map(({ deleted }) => deleted)).toEqual(messages.map(() => true));
    },
  );

  test('deleting one answer leaves the message’s other answers', async () => {
    const world = lifecycle();
    const { id } = await regenerated(world);

    await removeMessage(world, id, 'm_1');

    const turns = await turnsOf(world.chat, id, 3);
    expect(turns.map(({ contents }) => contents.length)).toEqual([0, 1, 1]);
    expect(turns.map(({ user }) => contentText(user).includes(CANARY))).toEqual([true, true, true]);
  });
});

describe('the id of a deleted message', () => {
  test('a deleted message’s id sent again calls no model, whatever its text', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    await removeMessage(world, conversationId, 'message-2');
    const message = { id: 'message-2', parts: [{ text: 'Something else.' }] };

    const handle = await sendMessage(world.chat, { caller: owner, conversationId, message });

    const { turn, replayed } = await handle.result;
    expect(replayed).toBe(true);
    expect(turn).toMatchObject({ seq: 2, contents: [], user: { parts: [] } });
    expect((await see(world.store, conversationId)).conversation.lastSeq).toBe(3);
  });

  test('a deleted failed message is not retried when sent again', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, {
      turns: [{ state: 'failed', answer: [] }],
    });
    const error = {
      status: 'UNAVAILABLE',
      reason: 'MODEL_OVERLOADED',
      message: '',
      retryable: true,
    };
    const path = turnPath(conversationId, 1);
    await world.store.commit([{ op: 'update', path, fields: { error }, guard: { exists: true } }]);
    await removeMessage(world, conversationId, 'message-1');
    const message = { id: 'message-1', parts: [{ text: 'Again.' }] };

    const handle = await sendMessage(world.chat, { caller: owner, conversationId, message });

    await expect(handle.result).rejects.toMatchObject({ reason: 'MODEL_OVERLOADED' });
    const [guard] = await world.store.get([messageGuardPath(conversationId, 'message-1')]);
    expect(guard?.fields['bodyHash']).toBe('');
  });
});
