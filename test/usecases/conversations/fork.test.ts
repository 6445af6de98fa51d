import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import {
  deleteConversation,
  eraseOwnConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { FORK_TURNS_MAX } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { createConversation } from '#functions/chat/conversations/write-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { slowWrites } from '#test/fakes/manual-clock.ts';
import { fork, transcript, edit, request, answered } from '#test/support/chat/sending.ts';
import {
  compactAgain,
  compacted,
  lifecycle,
  setConversation,
  dyingAt,
  owner,
  CANARY,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import {
  manualRequest,
  compactOnce,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { addTurn, buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

test('a fork over its threshold requests a compaction at once', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, {
    turns: 20,
    conversation: { settings: { thresholdTokens: 1_000 } },
  });

  const forked = await fork(world, conversationId, 'message-20');

  const conversation = await readConversation(world.store, forked.conversationId);
  expect(conversation?.value.compactionRequests.auto).toMatchObject({ trigger: 'auto' });
});

test.each(['message-2', 'm_2'])(
  'a fork has the turns up to %s and no others',
  async (messageId) => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 4 });

    const forked = await fork(world, conversationId, messageId);

    expect(forked).toMatchObject({ isNew: true, conversation: { state: 'live', lastSeq: 2 } });
    expect(forked.conversation.forkedFrom).toEqual({ conversationId, seq: 2 });
    expect(await transcript(world, forked.conversationId, 4)).toEqual(
      await transcript(world, conversationId, 2),
    );
  },
);

test('a fork has no title that was made of later turns, which may be erased', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, {
    turns: 4,
    conversation: { title: 'A secret trip', autoTitle: { throughSeq: 4 } },
  });

  const forked = await fork(world, conversationId, 'message-2');

  expect(JSON.stringify(forked.conversation)).not.toContain('secret');
  expect((await fork(world, conversationId, 'message-4')).conversation.title).toBe('A secret trip');
});

test('a fork takes settings, title, model and the pins of its turns along', async () => {
  const world = lifecycle();
  const pin = { text: 'a fact', source: 'api' } as const;
  const { conversationId } = await buildConversation(world.store, {
    turns: 4,
    conversation: {
      title: 'Trip',
      metadata: { topic: 'Jeju' },
      settings: { thresholdTokens: 9_000 },
      systemInstruction: 'Be kind.',
      pins: [
        { id: 'p0', ...pin },
        { id: 'p2', ...pin, seq: 2 },
        { id: 'p3', ...pin, seq: 3 },
      ],
    },
  });

  const { conversation } = await fork(world, conversationId, 'message-2');

  expect(conversation).toMatchObject({
    ownerUid: 'u1',
    title: 'Trip',
    metadata: { topic: 'Jeju' },
    settings: { thresholdTokens: 9_000 },
    systemInstruction: 'Be kind.',
  });
  expect(conversation.pins.map(({ id }) => id)).toEqual(['p0', 'p2']);
});

test('a fork uses the newest summary that covers no more than its turns', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);
  const first = await see(world.store, conversationId);
  await compactAgain(world, conversationId);
  const { seq } = first.conversation.coveredThrough;

  const forked = await fork(world, conversationId, `message-${seq + 2}`);

  const { conversation, history, items, tokens } = await see(world.store, forked.conversationId);
  expect(conversation).toMatchObject({ generation: 1, coveredThrough: { seq } });
  expect(history?.snapshotText).toBe(first.history?.snapshotText);
  expect([...new Set(items.flatMap((item) => item.seq ?? []))]).toEqual([seq + 1, seq + 2]);
  expect(conversation.context).toMatchObject({ tokens, source: 'estimated', seq: seq + 2 });
});

test('a fork takes no summary made after its turns were replaced', async () => {
  const world = lifecycle({ clock: systemClock });
  const { conversationId } = await buildConversation(world.store, {
    turns: [{ user: 'A long question. '.repeat(400) }, {}, {}],
  });
  await answered(world.chat, edit(conversationId, 'message-2', 'Corrected.'));
  await addTurn(world.store, conversationId, { user: 'And then?', answer: 'Then home.' });
  await setConversation(world, conversationId, {
    compactionRequests: { ...manualRequest('by-hand') },
  });
  await compactOnce(world.bench, conversationId);
  const source = await see(world.store, conversationId);
  expect(source.conversation).toMatchObject({ generation: 2, coveredThrough: { seq: 3 } });

  const forked = await fork(world, conversationId, 'message-3');

  const { items } = await see(world.store, forked.conversationId);
  expect(items.map(({ seq }) => seq)).toEqual([1, 1, 2, 2, 3, 3]);
});

test('a fork knows the ids of its messages', async () => {
  const world = lifecycle({ clock: systemClock });
  const conversationId = randomUUID();
  const first = request(conversationId, 'Hello.');
  await answered(world.chat, first);
  const forked = await fork(world, conversationId, first.message.id);

  const again = await sendMessage(world.chat, {
    ...first,
    conversationId: forked.conversationId,
  });
  const next = await sendMessage(world.chat, request(forked.conversationId, 'More.'));

  expect(await again.result).toMatchObject({ replayed: true, turn: { seq: 1 } });
  expect(await next.result).toMatchObject({ replayed: false, turn: { seq: 2 } });
});

test('a message that is being answered cannot be forked', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, { turns: 3 });
  const path = turnPath(conversationId, 3);
  await world.store.commit([
    { op: 'update', path, fields: { state: 'running' }, guard: { exists: true } },
  ]);
  await setConversation(world, conversationId, { open: { seq: 3, leaseUntil: new Date() } });

  await expect(fork(world, conversationId, 'message-3')).rejects.toMatchObject({
    reason: 'TURN_IN_PROGRESS',
  });
  expect(await fork(world, conversationId, 'message-2')).toMatchObject({ isNew: true });
});

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
});

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

test('a fork copies long messages and answers whole', async () => {
  const world = lifecycle();
  const long = 'long text '.repeat(150_000);
  const turns = [1, 2].map(() => ({ user: long, answer: long }));
  const { conversationId } = await buildConversation(
    {
      commit: async (writes) =>
        (await Promise.all(writes.map((each) => world.store.commit([each])))).flat(),
    },
    { turns },
  );

  const forked = await fork(world, conversationId, 'message-2');

  expect(await transcript(world, forked.conversationId, 2)).toEqual(
    await transcript(world, conversationId, 2),
  );
});

test('a fork of more turns than one request copies is refused', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, { turns: 1 });
  const seq = FORK_TURNS_MAX + 1;
  const [first] = await world.store.get([turnPath(conversationId, 1)]);
  const fields = { ...first?.fields, seq };
  await world.store.commit([{ op: 'create', path: turnPath(conversationId, seq), fields }]);
  await setConversation(world, conversationId, { lastSeq: seq });

  await expect(fork(world, conversationId, `m_${seq}`)).rejects.toMatchObject({
    status: 'FAILED_PRECONDITION',
    reason: 'FORK_TOO_LARGE',
    metadata: { turns: '20001', turnsMax: '20000' },
  });
});
