import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import {
  conversationPath,
  messageGuardPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import {
  manualRequest,
  compactOnce,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { addTurn, buildConversation } from '#test/support/compaction/conversation-builder.ts';
import {
  CANARY,
  compactAgain,
  compacted,
  lifecycle,
  owner,
  setConversation,
  stranger,
} from '#test/support/chat/lifecycle.ts';
import { slowWrites } from '#test/fakes/slow-writes.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { edit } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { answered } from '#test/support/chat/starts.ts';
import { fork, transcript } from '#test/support/chat/forks.ts';

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

describe('a fork', () => {
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

  test('a fork is whole when it is answered, however long its writes take', async () => {
    const world = lifecycle({}, compactionBench, slowWrites());
    const { conversationId } = await buildConversation(world.store, { turns: 4 });

    const forked = await fork(world, conversationId, 'message-4');

    expect(await transcript(world, forked.conversationId, 4)).toEqual(
      await transcript(world, conversationId, 4),
    );
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

  test('a fork of messages before every summary has them word for word', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    const forked = await fork(world, conversationId, 'message-2');

    const { conversation, items } = await see(world.store, forked.conversationId);
    expect(conversation).toMatchObject({ generation: 0, coveredThrough: { seq: 0 } });
    expect(items.map(({ seq }) => seq)).toEqual([1, 1, 2, 2]);
  });

  test('a fork has turns in context that only later ones replaced', async () => {
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

  test('a fork has nothing of a deleted message', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await deleteMessage(world.chat, { caller: owner, conversationId, messageId: 'message-3' });

    const forked = await fork(world, conversationId, 'message-20');

    const { text } = await see(world.store, forked.conversationId);
    expect(text).not.toContain(CANARY);
    expect(text).toContain('Plan a trip');
  });

  test('a fork copies the stored outputs that its summary names', async () => {
    const world = lifecycle();
    const output = 'line of output\n'.repeat(20_000);
    const contents: Content[] = [
      { role: 'model', parts: [{ functionCall: { name: 'read', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'read', response: { output } } }] },
      { role: 'model', parts: [{ text: 'Read.' }] },
    ];
    const said = { user: 'A long question about the trip. '.repeat(150) };
    const turns = Array.from({ length: 20 }, (_, i) => (i > 14 ? { answer: contents } : said));
    const conversation = { settings: { thresholdTokens: 12_000 } };
    const conversationId = await compacted(world, { turns, conversation });
    const blobsBelow = async (id: string) =>
      (await world.documents())
        .filter(({ path }) => path.startsWith(`${conversationPath(id)}/blobs/`))
        .map(({ path, fields }) => [path.split('/').at(-1), fields]);
    expect(await blobsBelow(conversationId)).not.toEqual([]);

    const forked = await fork(world, conversationId, 'message-20');

    expect(await blobsBelow(forked.conversationId)).toEqual(await blobsBelow(conversationId));
  });

  test('a fork knows the ids of its messages', async () => {
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

describe('what cannot be forked', () => {
  test('an unknown message cannot be forked', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });

    await expect(fork(world, conversationId, 'message-4')).rejects.toMatchObject({
      reason: 'MESSAGE_NOT_FOUND',
    });
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

  test('another user’s conversation cannot be forked, as if it were missing', async () => {
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
