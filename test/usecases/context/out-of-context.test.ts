import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { compacted, lifecycle, owner, removeMessage } from '#test/support/chat/lifecycle.ts';
import {
  answered,
  cancel,
  edit,
  instances,
  queued,
  regenerate,
  request,
  threeTurns,
} from '#test/support/chat/sending.ts';
import { buildConversation, userText } from '#test/support/compaction/conversation-builder.ts';
import { overloaded } from '#test/support/model-down.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

const messagesOf = async (
  dependencies: Pick<ChatDependencies, 'store' | 'sha256'>,
  conversationId: string,
) => {
  const page = { caller: owner, conversationId, pageSize: 100, order: 'asc', afterSeq: 0 } as const;
  return (await listMessages(dependencies, page)).messages;
};

/** Why each message is out of the context, by role and turn; those that are in it are left out. */
async function reasons(dependencies: Pick<ChatDependencies, 'store' | 'sha256'>, id: string) {
  const messages = await messagesOf(dependencies, id);
  for (const { inContext, outOfContext } of messages)
    expect(outOfContext === undefined).toBe(inContext);
  const out = messages.flatMap(({ role, seq, outOfContext }) =>
    outOfContext ? [[`${role}${seq}`, outOfContext] as const] : [],
  );
  return Object.fromEntries(out);
}

test('a message that an edit replaced names the turn in its place', async () => {
  const { id, dependencies, messageIds } = await threeTurns();

  await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

  const replaced = { reason: 'replaced', replacedBy: 't_4' };
  expect(await reasons(dependencies, id)).toEqual({
    user2: replaced,
    model2: replaced,
    user3: replaced,
    model3: replaced,
  });
});

test('a message that was replaced more than once names the turn that stands there now', async () => {
  const { id, dependencies, messageIds } = await threeTurns();
  await answered(dependencies, regenerate(id, messageIds[2] ?? ''));

  await answered(dependencies, edit(id, messageIds[0] ?? '', 'one, corrected'));

  const { user3, user4 } = await reasons(dependencies, id);
  expect(user3).toEqual({ reason: 'replaced', replacedBy: 't_5' });
  expect(user4).toEqual({ reason: 'replaced', replacedBy: 't_5' });
});

test('of a deleted answer, the answer and its question say so', async () => {
  const { id, dependencies, messageIds } = await threeTurns();

  await removeMessage({ chat: dependencies }, id, 'm_1');
  await removeMessage({ chat: dependencies }, id, messageIds[1] ?? '');

  expect(await reasons(dependencies, id)).toEqual({
    user1: { reason: 'answerDeleted' },
    model1: { reason: 'deleted' },
    user2: { reason: 'deleted' },
    model2: { reason: 'deleted' },
  });
});

test('a message whose answer is under way, waits or was stopped says which', async () => {
  const world = instances();
  const chat = world.instance();
  const id = randomUUID();
  await sendMessage(chat, request(id, 'one'));
  await world.called(1);
  await sendMessage(chat, queued(id, 'two'));

  const before = await reasons(chat, id);
  await cancel(chat, id, 2);

  expect(before).toEqual({ user1: { reason: 'running' }, user2: { reason: 'queued' } });
  expect((await reasons(chat, id))['user2']).toEqual({ reason: 'cancelled' });
  world.answerAll();
});

test('a message whose answer failed or was filtered says so', async () => {
  const filtered = { chunks: [{ parts: [{ text: 'No' }], finishReason: 'SAFETY' }] };
  const { model } = scriptedStreamer({ error: overloaded() }, filtered, textAnswer('Fine.'));
  const chat = chatDependencies({ model });
  const id = randomUUID();
  await expect(answered(chat, request(id, 'one'))).rejects.toMatchObject({
    reason: 'MODEL_OVERLOADED',
  });
  for (const text of ['two', 'three']) await answered(chat, request(id, text));

  expect(await reasons(chat, id)).toEqual({
    user1: { reason: 'failed' },
    user2: { reason: 'filtered' },
    model2: { reason: 'filtered' },
  });
});

test('a folded message is in the context, by the summary', async () => {
  const world = lifecycle();
  const id = await compacted(world);

  expect(await reasons(world.chat, id)).toEqual({});
});

test('a message of which nothing can be read says so', async () => {
  const dependencies = chatDependencies();
  const { conversationId: id } = await buildConversation(dependencies.store, {
    turns: [{ user: userText('one') }],
  });
  const [path] = (
    await dependencies.store.query({ collection: `conversations/${id}/turns`, limit: 1 })
  ).map((document) => document.path);
  const fields = { userJson: '{"half' };
  await dependencies.store.commit([
    { op: 'update', path: path ?? '', fields, guard: { exists: true } },
  ]);

  expect((await reasons(dependencies, id))['user1']).toEqual({ reason: 'unreadable' });
});
