import { describe, expect, test } from 'vitest';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import { usagePath, userPath } from '#shared/conversation/documents/paths.ts';
import { encodeUsage, noUsage } from '#shared/quota/usage.ts';
import { slowWrites } from '#test/fakes/slow-writes.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { compactOnce, neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import {
  dyingAt,
  CANARY,
  compacted,
  lifecycle,
  owner,
  setConversation,
  stranger,
} from '#test/support/chat/lifecycle.ts';
import { erase, remainsOf, serveErasures } from '#test/support/compaction/erasing.ts';
import { request } from '#test/support/chat/sending.ts';

describe('S20, contract 12: erasing a user', () => {
  test('erasing a user leaves only tombstones, of conversations in every state', async () => {
    const world = lifecycle();
    const live = await compacted(world);
    const deleted = await compacted(world);
    await deleteConversation(world.chat, { caller: owner, conversationId: deleted });
    const forking = await compacted(world);
    await setConversation(world, forking, { state: 'forking' });
    const named = await compacted(world, {
      conversation: {
        title: CANARY,
        systemInstruction: CANARY,
        metadata: { note: CANARY },
        pins: [{ id: 'p', text: CANARY, source: 'api' }],
        forkedFrom: { conversationId: live, seq: 1 },
      },
    });

    const result = await erase(world);

    expect(result).toEqual({ conversations: 4 });
    expect(await remainsOf(world)).toEqual([]);
    const tombstone = await readConversation(world.store, named);
    expect(tombstone?.value.expireTime).toEqual(
      new Date(world.bench.clock.now().getTime() + 30 * 24 * 60 * 60_000),
    );
  });

  test('figures of earlier days are gone once the erasure of their user is answered', async () => {
    const world = lifecycle({}, compactionBench, slowWrites());
    const path = usagePath('u1', '2020-01-01');
    await world.store.commit([
      { op: 'create', path, fields: encodeUsage(noUsage, new Date('2020-01-01')) },
    ]);

    await erase(world);

    expect(await world.store.get([path])).toEqual([undefined]);
  });

  test('erasing a user removes the documents below the user', async () => {
    const world = lifecycle();
    await world.store.commit(
      ['', '/memory/notes', '/memories/m1'].map((below) => ({
        op: 'create' as const,
        path: `${userPath('u1')}${below}`,
        fields: { text: CANARY },
      })),
    );

    await erase(world);

    expect(await world.documents()).toEqual([]);
  });

  test('erasing a user reaches a fork that became whole before its source was marked', async () => {
    const world = lifecycle();
    const first = '00000000-0000-4000-8000-000000000000';
    // As many as are marked side by side.
    const middle = Array.from({ length: 10 }, (_, i) => `8888888${i}-0000-4000-8000-000000000000`);
    const source = 'ffffffff-0000-4000-8000-000000000000';
    for (const conversationId of [...middle, source])
      await buildConversation(world.store, { conversationId, turns: [{ user: CANARY }] });
    const target = { caller: owner, conversationId: source, messageId: 'm_1', id: first };
    let forked: Promise<unknown> | undefined;
    const chat = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name === 'conversation-marked') await (forked ??= forkConversation(world.chat, target));
      },
    };

    const result = await eraseUser(chat, { caller: owner });
    await serveErasures(world);

    expect(result).toEqual({ conversations: 12 });
    expect(await remainsOf(world)).toEqual([]);
  });

  test('erasing a user ends although the person keeps starting conversations', async () => {
    const world = lifecycle();
    await createConversation(world.chat, { caller: owner, fields: {} });
    const chat = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name === 'erase-published')
          await createConversation(world.chat, {
            caller: owner,
            id: '00000000-0000-4000-8000-' + String(world.chat.published.length).padStart(12, '0'),
            fields: {},
          });
      },
    };

    const { conversations } = await eraseUser(chat, { caller: owner });

    expect(conversations).toBeLessThan(200);
  });

  test('erasing a user leaves other people’s conversations alone', async () => {
    const world = lifecycle();
    const theirs = await compacted(world, { conversation: { ownerUid: 'u2' } });
    const before = await world.documents();

    const result = await eraseUser(world.chat, { caller: owner });

    expect(result).toEqual({ conversations: 0 });
    expect(await world.documents()).toEqual(before);
    expect((await readConversation(world.store, theirs))?.value.state).toBe('live');
  });

  test('erasing a user reaches more conversations than one read returns', async () => {
    const world = lifecycle();
    for (let i = 0; i < 101; i++)
      await createConversation(world.chat, { caller: owner, fields: {} });

    const result = await erase(world);

    expect(result).toEqual({ conversations: 101 });
    expect(await remainsOf(world)).toEqual([]);
  });

  test.each(['conversation-marked', 'erase-published', 'user-documents-erased'])(
    'erasing a user that died when it had %s is finished by the same request',
    async (point) => {
      const world = lifecycle();
      await compacted(world);
      await compacted(world);
      const dying = { ...world.chat, ...dyingAt(point) };
      await expect(eraseUser(dying, { caller: owner })).rejects.toThrow('died');

      const result = await erase(world);

      expect(result).toEqual({ conversations: 2 });
      expect(await remainsOf(world)).toEqual([]);
    },
  );
});

describe('S20: an erased conversation', () => {
  test.each([
    ['owner', owner],
    ['somebody else', stranger],
  ])('an erased conversation is not found by a late message of %s', async (_, caller) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await erase(world);

    const send = sendMessage(world.chat, { ...request(conversationId, 'Late.'), caller });

    await expect(send).rejects.toMatchObject({ status: 'NOT_FOUND' });
    expect(await remainsOf(world)).toEqual([]);
  });

  test('an erased conversation’s id stays taken', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await erase(world);
    const again = { caller: owner, id: conversationId, fields: {} };

    await expect(createConversation(world.chat, again)).rejects.toMatchObject({
      status: 'NOT_FOUND',
    });
  });

  test('an erased conversation is ignored by a late compaction and a second erasure', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await erase(world);

    expect(await compactOnce(world.bench, conversationId)).toMatchObject({ reason: 'NOT_LIVE' });
    expect(await eraseConversation(world.bench, conversationId, neverAborted())).toBe('nothing');
    expect(await remainsOf(world)).toEqual([]);
  });
});

test.each(['live', 'deleted', 'forking', 'erased'])(
  'erasing an unmarked conversation does nothing when it is %s',
  async (state) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, { state });
    const before = await world.documents();

    const result = await eraseConversation(world.bench, conversationId, neverAborted());

    expect(result).toBe('nothing');
    expect(await world.documents()).toEqual(before);
  },
);
