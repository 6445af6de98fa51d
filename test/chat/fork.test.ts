import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createConversation } from '../../functions/src/chat/conversation/create-conversation.ts';
import {
  deleteConversation,
  eraseOwnConversation,
} from '../../functions/src/chat/conversation/delete-conversation.ts';
import { deleteMessage } from '../../functions/src/chat/conversation/delete-message.ts';
import {
  forkConversation,
  FORK_TURNS_MAX,
} from '../../functions/src/chat/conversation/fork-conversation.ts';
import { readOwnConversation } from '../../functions/src/chat/conversation/own-conversation.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { systemClock } from '../../functions/src/adapters/system-clock.ts';
import type { Content } from '../../shared/conversation/content.ts';
import { headPath, messageGuardPath, turnPath } from '../../shared/conversation/paths.ts';
import { readHead, readTurns } from '../../shared/conversation/read-conversation.ts';
import type { DocumentStore } from '../../shared/ports.ts';
import { compactOnce, manualNeed, see } from '../support/compacted-conversation.ts';
import { addTurn, buildConversation } from '../support/conversation-builder.ts';
import {
  CANARY,
  compactAgain,
  compacted,
  dyingAt,
  lifecycle,
  owner,
  setHead,
  stranger,
  type Lifecycle,
} from '../support/lifecycle.ts';
import { edit } from '../support/replacing.ts';
import { request } from '../support/sending.ts';
import { answered } from '../support/starts.ts';

const fork = (
  { chat }: Pick<Lifecycle, 'chat'>,
  conversationId: string,
  ...[messageId, id]: [messageId: string, id?: string]
) => forkConversation(chat, { caller: owner, conversationId, messageId, id });

const seqsUpTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

const transcript = async ({ store }: Lifecycle, conversationId: string, last: number) =>
  (await readTurns(store, conversationId, seqsUpTo(last))).map(({ value }) => [
    value.seq,
    value.messageId,
    value.user,
    value.contents,
  ]);

test('a fork that begins over its threshold asks for a compaction at once', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, {
    turns: 20,
    head: { settings: { thresholdTokens: 1_000 } },
  });

  const forked = await fork(world, conversationId, 'message-20');

  const head = await readHead(world.store, forked.conversationId);
  expect(head?.value.compactionNeeded.auto).toMatchObject({ trigger: 'auto' });
});

describe('a fork', () => {
  test.each(['message-2', 'm_2'])('has the turns up to %s and no others', async (messageId) => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 4 });

    const forked = await fork(world, conversationId, messageId);

    expect(forked).toMatchObject({ isNew: true, head: { state: 'live', lastSeq: 2 } });
    expect(forked.head.forkedFrom).toEqual({ conversationId, seq: 2 });
    expect(await transcript(world, forked.conversationId, 4)).toEqual(
      await transcript(world, conversationId, 2),
    );
  });

  test('takes settings, title, model and the pins of its turns along', async () => {
    const world = lifecycle();
    const pin = { text: 'a fact', source: 'api' } as const;
    const { conversationId } = await buildConversation(world.store, {
      turns: 4,
      head: {
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

    const { head } = await fork(world, conversationId, 'message-2');

    expect(head).toMatchObject({
      ownerUid: 'u1',
      title: 'Trip',
      metadata: { topic: 'Jeju' },
      settings: { thresholdTokens: 9_000 },
      systemInstruction: 'Be kind.',
    });
    expect(head.pins.map(({ id }) => id)).toEqual(['p0', 'p2']);
  });

  test('goes on with the newest summary that covers no more than its turns', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const first = await see(world.store, conversationId);
    await compactAgain(world, conversationId);
    const { seq } = first.head.coveredThrough;

    const forked = await fork(world, conversationId, `message-${seq + 2}`);

    const { head, history, items, tokens } = await see(world.store, forked.conversationId);
    expect(head).toMatchObject({ generation: 1, coveredThrough: { seq } });
    expect(history?.snapshotText).toBe(first.history?.snapshotText);
    expect([...new Set(items.flatMap((item) => item.seq ?? []))]).toEqual([seq + 1, seq + 2]);
    expect(head.context).toMatchObject({ tokens, source: 'estimated', seq: seq + 2 });
  });

  test('of messages before every summary stands word for word', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    const forked = await fork(world, conversationId, 'message-2');

    const { head, items } = await see(world.store, forked.conversationId);
    expect(head).toMatchObject({ generation: 0, coveredThrough: { seq: 0 } });
    expect(items.map(({ seq }) => seq)).toEqual([1, 1, 2, 2]);
  });

  test('has turns in its context that only later ones replaced', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, {
      turns: [{}, { inContext: false }, { inContext: false }, {}],
    });
    await world.store.commit(
      [2, 3].map((seq) => ({
        op: 'update',
        path: turnPath(conversationId, seq),
        fields: { 'replacedBy.t_4': true },
        guard: { exists: true },
      })),
    );

    const before = await fork(world, conversationId, 'message-3');
    const after = await fork(world, conversationId, 'message-4');

    const seqsOf = async (id: string) => [
      ...new Set((await see(world.store, id)).items.flatMap(({ seq }) => seq ?? [])),
    ];
    expect(await seqsOf(before.conversationId)).toEqual([1, 2, 3]);
    expect(await seqsOf(after.conversationId)).toEqual([1, 4]);
  });

  test('takes no summary that was made when turns of it had been replaced', async () => {
    const world = lifecycle({ clock: systemClock });
    const { conversationId } = await buildConversation(world.store, {
      turns: [{ user: 'A long question. '.repeat(400) }, {}, {}],
    });
    await answered(world.chat, edit(conversationId, 'message-2', 'Corrected.'));
    await addTurn(world.store, conversationId, { user: 'And then?', answer: 'Then home.' });
    await setHead(world, conversationId, { compactionNeeded: { ...manualNeed('by-hand') } });
    await compactOnce(world.bench, conversationId);
    const source = await see(world.store, conversationId);
    expect(source.head).toMatchObject({ generation: 2, coveredThrough: { seq: 3 } });

    const forked = await fork(world, conversationId, 'message-3');

    const { items } = await see(world.store, forked.conversationId);
    expect(items.map(({ seq }) => seq)).toEqual([1, 1, 2, 2, 3, 3]);
  });

  test('has nothing of a deleted message', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await deleteMessage(world.chat, { caller: owner, conversationId, messageId: 'message-3' });

    const forked = await fork(world, conversationId, 'message-20');

    const { text } = await see(world.store, forked.conversationId);
    expect(text).not.toContain(CANARY);
    expect(text).toContain('Question 2:');
  });

  test('copies long messages and answers whole', async () => {
    const world = lifecycle();
    const long = 'long text '.repeat(150_000);
    const turns = Array.from({ length: 3 }, () => ({ user: long, answer: long }));
    const { conversationId } = await buildConversation(
      {
        commit: async (writes) =>
          (await Promise.all(writes.map((each) => world.store.commit([each])))).flat(),
      },
      { turns },
    );

    const forked = await fork(world, conversationId, 'message-3');

    expect(await transcript(world, forked.conversationId, 3)).toEqual(
      await transcript(world, conversationId, 3),
    );
  });

  test('copies more turns than one batch holds', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 500 });

    const forked = await fork(world, conversationId, 'm_450');

    expect(await transcript(world, forked.conversationId, 500)).toEqual(
      await transcript(world, conversationId, 450),
    );
  });

  test('reads ten turns at once, and the guards of their messages', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 100 });
    let gets = 0;
    const store: DocumentStore = {
      ...world.store,
      get: (paths) => {
        gets += 1;
        return world.store.get(paths);
      },
    };

    await fork({ chat: { ...world.chat, store } }, conversationId, 'm_100');

    expect(gets).toBeLessThan(30);
  });

  test('is left whole by a maker that stood still while another took over', async () => {
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

  test('of more turns than one request copies is refused', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 1 });
    const seq = FORK_TURNS_MAX + 1;
    const [first] = await world.store.get([turnPath(conversationId, 1)]);
    const fields = { ...first?.fields, seq };
    await world.store.commit([{ op: 'create', path: turnPath(conversationId, seq), fields }]);
    await setHead(world, conversationId, { lastSeq: seq });

    await expect(fork(world, conversationId, `m_${seq}`)).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'FORK_TOO_LARGE',
      metadata: { turns: '20001', turnsMax: '20000' },
    });
  });

  test('copies the stored outputs that its summary names', async () => {
    const world = lifecycle();
    const output = 'line of output\n'.repeat(20_000);
    const contents: Content[] = [
      { role: 'model', parts: [{ functionCall: { name: 'read', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'read', response: { output } } }] },
      { role: 'model', parts: [{ text: 'Read.' }] },
    ];
    const turns = Array.from({ length: 20 }, (_, i) => (i > 14 ? { answer: contents } : {}));
    const conversationId = await compacted(world, { turns });
    const blobsBelow = async (id: string) =>
      (await world.documents())
        .filter(({ path }) => path.startsWith(`${headPath(id)}/blobs/`))
        .map(({ path, fields }) => [path.split('/').at(-1), fields]);
    expect(await blobsBelow(conversationId)).not.toEqual([]);

    const forked = await fork(world, conversationId, 'message-20');

    expect(await blobsBelow(forked.conversationId)).toEqual(await blobsBelow(conversationId));
  });

  test('knows the ids of its messages', async () => {
    const world = lifecycle({ clock: systemClock });
    const conversationId = randomUUID();
    const first = request(conversationId, 'Hello.');
    await (
      await sendMessage(world.chat, first)
    ).result;
    const forked = await fork(world, conversationId, first.message.id);

    const again = await sendMessage(world.chat, {
      ...first,
      conversationId: forked.conversationId,
    });
    const next = await sendMessage(world.chat, request(forked.conversationId, 'More.'));

    expect(await again.result).toMatchObject({ replayed: true, turn: { seq: 1 } });
    expect(await next.result).toMatchObject({ replayed: false, turn: { seq: 2 } });
  });
});

describe('a fork under an id', () => {
  test('is the same fork when it is asked for again', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    const first = await fork(world, conversationId, 'message-2', id);
    await addTurn(world.store, id, { user: 'More.', answer: 'Yes.' });

    const second = await fork(world, conversationId, 'message-2', id);

    expect(first).toMatchObject({ conversationId: id, isNew: true });
    expect(second).toMatchObject({ conversationId: id, isNew: false, head: { lastSeq: 3 } });
  });

  test('of another message, or of a conversation that is there, is refused', async () => {
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
  ])('%s cannot be used, and says which field is to change', async (_, remove) => {
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

  test('whose source is erased while it is made is erased with it', async () => {
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

    expect((await readHead(world.store, id))?.value.state).toBe('erasing');
    expect(world.chat.published.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ kind: 'erase', conversationId: id }),
    );
  });

  test('that somebody else has is not there', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const theirs = await createConversation(world.chat, { caller: stranger, fields: {} });

    await expect(
      fork(world, conversationId, 'message-2', theirs.conversationId),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test.each(['fork-begun', 'fork-cleared', 'fork-batch-copied', 'fork-copied', 'fork-live'])(
    'that died when it had reached %s is finished by the same request',
    async (point) => {
      const world = lifecycle();
      const conversationId = await compacted(world);
      const id = randomUUID();
      const dying = { chat: { ...world.chat, ...dyingAt(point) } };
      await expect(fork(dying, conversationId, 'message-20', id)).rejects.toThrow('died');

      const forked = await fork(world, conversationId, 'message-20', id);

      expect(forked.head).toMatchObject({ state: 'live', lastSeq: 20, generation: 1 });
      expect(await transcript(world, id, 30)).toEqual(await transcript(world, conversationId, 20));
    },
  );

  test('is not found before it is whole', async () => {
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

  test('that a second request makes meanwhile is made by that one', async () => {
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
    ['the head', (id: string) => headPath(id)],
    ['a copied turn', (id: string) => turnPath(id, 1)],
  ])('survives the lost reply of the batch of %s', async (_, pathOf) => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const id = randomUUID();
    world.loseReplyOf(({ path }) => path === pathOf(id));

    const forked = await fork(world, conversationId, 'message-2', id);

    expect(forked.head).toMatchObject({ state: 'live', lastSeq: 2 });
  });

  test('survives the lost reply of the batch that makes it live', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    world.loseReplyOf((write) => write.op === 'update' && write.fields['state'] === 'live');

    const forked = await fork(world, conversationId, 'message-2');

    expect(forked).toMatchObject({ isNew: true, head: { state: 'live', lastSeq: 2 } });
  });
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

  test('by a new message is copied as it was', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const racing = meanwhile(world, () =>
      addTurn(world.store, conversationId, { user: 'Late.', answer: 'Yes.' }),
    );

    const forked = await fork(racing, conversationId, 'message-3');

    expect(forked.head.lastSeq).toBe(3);
  });

  test('by a deleted message is copied again, without it', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const racing = meanwhile(world, () =>
      deleteMessage(world.chat, { caller: owner, conversationId, messageId: 'message-3' }),
    );

    const forked = await fork(racing, conversationId, 'message-20');

    const below = (await world.documents()).filter(({ path }) =>
      path.startsWith(headPath(forked.conversationId)),
    );
    expect(JSON.stringify(below)).not.toContain(CANARY);
    expect(below.filter(({ path }) => path.includes('/turns/'))).toHaveLength(20);
  });

  test('by being deleted ends the fork', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const racing = meanwhile(world, () =>
      deleteConversation(world.chat, { caller: owner, conversationId }),
    );

    await expect(fork(racing, conversationId, 'message-3')).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
    });
  });

  test('again and again is left for later', async () => {
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

describe('what cannot be forked', () => {
  test('an unknown message', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });

    await expect(fork(world, conversationId, 'message-4')).rejects.toMatchObject({
      reason: 'MESSAGE_NOT_FOUND',
    });
  });

  test('a message that is being answered', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const path = turnPath(conversationId, 3);
    await world.store.commit([
      { op: 'update', path, fields: { state: 'running' }, guard: { exists: true } },
    ]);
    await setHead(world, conversationId, { open: { seq: 3, leaseUntil: new Date() } });

    await expect(fork(world, conversationId, 'message-3')).rejects.toMatchObject({
      reason: 'TURN_IN_PROGRESS',
    });
    expect(await fork(world, conversationId, 'message-2')).toMatchObject({ isNew: true });
  });

  test('a conversation of somebody else, told as if it were not there', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const asked = { caller: stranger, conversationId, messageId: 'message-2' };

    await expect(forkConversation(world.chat, asked)).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
    });
    expect(
      (await world.store.get([messageGuardPath(conversationId, 'message-2')]))[0],
    ).toBeDefined();
  });
});
