import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  deleteConversation,
  eraseOwnConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { undeleteConversation } from '#functions/chat/conversations/erase/undelete-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import { verifyConversation } from '#infra/ops/verify/verify-conversation.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { buildDue, compactOnce } from '../support/compaction/compacted-conversation.ts';
import { fork } from '../support/chat/forks.ts';
import { owner, removeMessage } from '../support/chat/lifecycle.ts';
import { edit, regenerate } from '../support/chat/replacing.ts';
import { restore } from '../support/compaction/restoring.ts';
import { request, sendAll } from '../support/chat/sending.ts';
import { answered, instances, queued } from '../support/chat/starts.ts';
import { longListings, openBreaker } from '../support/tools/tool-conversation.ts';
import { say, startToolModel, toolChat, withAppTools } from '../support/tools/tool-world.ts';
import {
  compactedThrice,
  foundIn,
  readingOf,
  verifyWorld,
} from '../support/compaction/verifying.ts';

describe('a conversation that the service wrote is found to be whole', () => {
  test('verification accepts a conversation that was compacted three times', async () => {
    const world = verifyWorld();
    const conversationId = await compactedThrice(world);

    expect((await readConversation(world.store, conversationId))?.value.generation).toBe(3);
    expect(await foundIn(world, conversationId)).toEqual([]);
  });

  test.each([2, 0])(
    'verification accepts a conversation whose generation %i was restored',
    async (generation) => {
      const world = verifyWorld();
      const conversationId = await compactedThrice(world);
      await restore(world, conversationId, generation);

      expect(await foundIn(world, conversationId)).toEqual([]);
    },
  );

  test('verification accepts a forked conversation and its fork', async () => {
    const world = verifyWorld();
    const conversationId = await compactedThrice(world);
    const forks = [await fork(world, conversationId, 'message-29')];
    forks.push(await fork(world, conversationId, 'message-5'));

    for (const id of [conversationId, ...forks.map((made) => made.conversationId)])
      expect(await foundIn(world, id)).toEqual([]);
  });

  test.each(['message-30', 'message-3'])(
    'verification accepts a conversation when %s was edited',
    async (messageId) => {
      const world = verifyWorld();
      const conversationId = await compactedThrice(world);
      await answered(world.chat, edit(conversationId, messageId, 'I meant something else.'));

      expect(await foundIn(world, conversationId)).toEqual([]);
    },
  );

  test('verification accepts a conversation whose answer was regenerated', async () => {
    const world = verifyWorld();
    const conversationId = randomUUID();
    await sendAll(world.chat, conversationId, ['one', 'two']);
    await answered(world.chat, regenerate(conversationId, 'm_2'));

    expect(await foundIn(world, conversationId)).toEqual([]);
  });

  test.each(['message-30', 'message-3', 'm_3', 'm_20'])(
    'verification accepts a conversation when %s was deleted',
    async (id) => {
      const world = verifyWorld();
      const conversationId = await compactedThrice(world);
      await removeMessage(world, conversationId, id);

      expect(await foundIn(world, conversationId)).toEqual([]);
    },
  );

  test('verification accepts a conversation whose long tool outputs are shortened into blobs', async () => {
    const world = verifyWorld();
    const conversationId = await buildDue(world, { turns: longListings(6) });
    await openBreaker(world.bench, conversationId);
    await compactOnce(world.bench, conversationId);

    expect((await readConversation(world.store, conversationId))?.value.generation).toBe(1);
    expect(await foundIn(world, conversationId)).toEqual([]);
  });

  test('verification accepts a conversation while one message is answered and another waits', async () => {
    const world = instances();
    const chat = world.instance();
    const conversationId = randomUUID();
    const first = await sendMessage(chat, request(conversationId, 'one'));
    const second = await sendMessage(chat, queued(conversationId, 'two'));
    await world.called(1);

    expect(await foundIn({ store: world.store, chat }, conversationId)).toEqual([]);
    world.answerAll();
    await Promise.all([first.result, second.result]);
    expect(await foundIn({ store: world.store, chat }, conversationId)).toEqual([]);
  });

  test('verification accepts a conversation with an app call waiting or expired', async () => {
    const { fakeGemini, model } = await startToolModel();
    await using _ = { [Symbol.asyncDispose]: () => fakeGemini.close() };
    const { chat } = toolChat(model);
    const conversationId = randomUUID();
    await withAppTools(chat, conversationId, ['locate']);
    await say(chat, conversationId, 'call locate {"question":"where"}');

    expect(await foundIn({ store: chat.store, chat }, conversationId)).toEqual([]);
    await say(chat, conversationId, 'Never mind.');
    expect(await foundIn({ store: chat.store, chat }, conversationId)).toEqual([]);
  });

  test('verification accepts a conversation in every state of deletion and erasure', async () => {
    const world = verifyWorld();
    const conversationId = await compactedThrice(world);
    const target = { caller: owner, conversationId };
    const look = async () => {
      const { state, findings } = await verifyConversation(readingOf(world), conversationId);
      return { state, findings };
    };

    await deleteConversation(world.chat, target);
    expect(await look()).toEqual({ state: 'deleted', findings: [] });
    await undeleteConversation(world.chat, target);
    expect(await look()).toEqual({ state: 'live', findings: [] });
    await eraseOwnConversation(world.chat, target);
    expect(await look()).toEqual({ state: 'erasing', findings: [] });
    await eraseConversation(world.bench, conversationId, new AbortController().signal);
    expect(await look()).toEqual({ state: 'erased', findings: [] });
  });

  test('verification accepts a database without conversations', async () => {
    const { state, findings } = await verifyConversation(readingOf(verifyWorld()), randomUUID());

    expect({ state, findings }).toEqual({ state: 'none', findings: [] });
  });
});
