import { systemClock } from '#functions/adapters/clocks.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  deleteConversation,
  eraseOwnConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { markErasing } from '#functions/erasure/erase-conversation.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { turnPath, chunkPath } from '#shared/conversation/documents/paths.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import {
  compacted,
  lifecycle,
  owner,
  setConversation,
  CANARY,
  canaries,
  shortConversation,
  type Lifecycle,
  removeMessage,
} from '#test/support/chat/lifecycle.ts';
import { request, regenerate, shownTexts, answered } from '#test/support/chat/sending.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import { manualRequest, see } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

/** A world in which `act` comes before the first commit that gives a conversation this state. */
function actingBefore(state: string, overrides: Partial<ChatDependencies> = {}) {
  const acting = { act: () => Promise.resolve<unknown>(undefined) };
  const world = lifecycle(overrides, undefined, {
    beforeOperation: async (operation) => {
      if (operation.name !== 'commit') return;
      if (!operation.writes.some((write) => 'fields' in write && write.fields['state'] === state))
        return;
      const { act } = acting;
      acting.act = () => Promise.resolve(undefined);
      await act();
    },
  });
  return { world, acting };
}

const DAY_MS = 24 * 60 * 60_000;

const storedConversation = async (world: ReturnType<typeof lifecycle>, conversationId: string) =>
  (await readConversation(world.store, conversationId))?.value;

test('deleting a conversation keeps it recoverable for thirty days and drops waiting requests', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);
  await setConversation(world, conversationId, { compactionRequests: { ...manualRequest() } });

  await deleteConversation(world.chat, { caller: owner, conversationId });

  const now = world.bench.clock.now();
  expect(await storedConversation(world, conversationId)).toMatchObject({
    state: 'deleted',
    generation: 2,
    deleteTime: now,
    purgeTime: new Date(now.getTime() + 30 * DAY_MS),
    compactionRequests: {},
  });
  await expect(
    readOwnConversation(world.chat, { caller: owner, conversationId }),
  ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
});

test('deleting a conversation cancels its running turn, which stores nothing more', async () => {
  const world = lifecycle({ clock: systemClock });
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { model } = scriptedStreamer({ ...textAnswer('Too late.'), gate });
  const conversationId = randomUUID();
  const chat = { ...world.chat, model };
  const handle = await sendMessage(chat, request(conversationId, 'Hello.'));
  const ended = handle.result.then(
    () => 'answered',
    () => 'stopped',
  );

  await deleteConversation(chat, { caller: owner, conversationId });
  open();

  expect(await ended).toBe('stopped');
  const [turn] = await world.store.get([turnPath(conversationId, 1)]);
  expect(turn?.fields).toMatchObject({ state: 'cancelled', answerJson: '[]', inContext: false });
  expect(await storedConversation(world, conversationId)).toMatchObject({ state: 'deleted' });
  expect((await storedConversation(world, conversationId))?.open).toBeUndefined();
});

test('deleting a conversation cancels a turn that begins at the same moment', async () => {
  const { world, acting } = actingBefore('deleted', {
    clock: systemClock,
    model: steeredStreamer().model,
  });
  const conversationId = await compacted(world);
  acting.act = () => sendMessage(world.otherChat, request(conversationId, 'Wait.'));

  await deleteConversation(world.chat, { caller: owner, conversationId });

  const { lastSeq = 0 } = (await storedConversation(world, conversationId)) ?? {};
  expect((await storedTurn(world.chat, conversationId, lastSeq)).state).toBe('cancelled');
});

describe('taking a conversation out of the bin', () => {
  test('recovering a conversation brings it back with its context', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const before = await see(world.store, conversationId);
    await deleteConversation(world.chat, { caller: owner, conversationId });

    await undeleteConversation(world.chat, { caller: owner, conversationId });

    const after = await see(world.store, conversationId);
    expect(after.text).toBe(before.text);
    expect(after.conversation.state).toBe('live');
    expect(after.conversation.purgeTime).toBeUndefined();
    expect(after.conversation.deleteTime).toBeUndefined();
  });

  test('recovering a conversation is too late once it is being erased', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await deleteConversation(world.chat, { caller: owner, conversationId });
    await eraseOwnConversation(world.chat, { caller: owner, conversationId });

    await expect(
      undeleteConversation(world.chat, { caller: owner, conversationId }),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test('recovering a conversation at the moment of its erasure keeps it', async () => {
    const { world, acting } = actingBefore('erasing');
    const conversationId = await compacted(world);
    await deleteConversation(world.chat, { caller: owner, conversationId });
    acting.act = () => undeleteConversation(world.otherChat, { caller: owner, conversationId });

    const marked = await markErasing(
      { store: world.store, clock: systemClock },
      conversationId,
      ({ state }) => state === 'deleted',
    );

    expect(marked).toBe('kept');
    expect(await storedConversation(world, conversationId)).toMatchObject({ state: 'live' });
  });
});

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

test.each(['running', 'queued'])('a message whose turn is %s cannot be deleted', async (state) => {
  const world = lifecycle();
  const conversationId = await shortConversation(world);
  const path = turnPath(conversationId, 2);
  await world.store.commit([{ op: 'update', path, fields: { state }, guard: { exists: true } }]);

  await expect(removeMessage(world, conversationId, 'message-2')).rejects.toMatchObject({
    status: 'ABORTED',
    reason: 'TURN_IN_PROGRESS',
  });
});

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
