import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { removeMessage, historiesOf } from '#test/support/chat/lifecycle.ts';
import {
  edit,
  shownTexts,
  threeTurns,
  regenerate,
  request,
  sendAll,
  answered,
  instances,
  turnsOf,
} from '#test/support/chat/sending.ts';
import {
  buildDue,
  compactOnce,
  see,
  type compactionBench,
  geminiCliBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { passTime } from '#test/support/pass-time.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

describe('an edited message', () => {
  test('an edited message is answered from what preceded it, in its own turn', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ model }));

    const turn = await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

    expect(turn).toMatchObject({ seq: 4, state: 'done', replaces: 2 });
    expect(requests.at(-1)?.contents.map(contentText)).toEqual(['one', 'Fine.', 'two, corrected']);
  });

  test('an edit and all after it leave the context, not the transcript, next generation', async () => {
    const { id, dependencies, messageIds } = await threeTurns();

    await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

    const turns = await turnsOf(dependencies, id, 4);
    expect(turns.map(({ inContext }) => inContext)).toEqual([true, false, false, true]);
    expect(turns.map(({ user }) => contentText(user))).toEqual([
      'one',
      'two',
      'three',
      'two, corrected',
    ]);
    const conversation = (await readConversation(dependencies.store, id))?.value;
    expect(conversation).toMatchObject({ generation: 1, changedIn: 1, coveredThrough: { seq: 0 } });
    expect((await historiesOf(dependencies, id)).map(({ fields }) => fields)).toMatchObject([
      { generation: 1, parent: 0, state: 'CHANGED', snapshotText: '' },
    ]);
  });

  test('an edit is noticed by another instance with cached old turns', async () => {
    const store = createMemoryDocumentStore();
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ store, model }));
    const other = chatDependencies({ store });

    await answered(other, edit(id, messageIds[1] ?? '', 'two, corrected'));
    await sendAll(dependencies, id, ['next']);

    expect(requests.at(-1)?.contents.map(contentText)).toEqual([
      'one',
      'Fine.',
      'two, corrected',
      'Fine.',
      'next',
    ]);
  });

  test('an edit is refused because its target is an answer', async () => {
    const { id, dependencies } = await threeTurns();

    await expect(sendMessage(dependencies, edit(id, 'm_2', 'x'))).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'NOT_A_USER_MESSAGE',
    });
  });
});

test('an edit with onBusy queue waits for the running answer, then replaces', async () => {
  const world = instances();
  const chat = world.instance();
  const id = randomUUID();
  const running = request(id, 'one');
  const first = await sendMessage(chat, running);

  const asked = { ...edit(id, running.message.id, 'one, corrected'), onBusy: 'queue' as const };
  const handle = await sendMessage(chat, asked);
  world.answerAll();
  await passTime(world.clock, first.result);
  const { turn } = await passTime(world.clock, handle.result);

  expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
  expect(world.calls[1]?.request.contents.map(contentText)).toEqual(['one, corrected']);
  expect((await turnsOf(chat, id, 2)).map(({ inContext }) => inContext)).toEqual([false, true]);
});

describe('the same edit sent again', () => {
  test.each([
    ['with another text', { text: 'something else', target: 1 }],
    ['for another message', { text: 'two, corrected', target: 0 }],
    ['as a plain message', { text: 'two, corrected', target: undefined }],
  ])('repeating an edit with %s is refused', async (_, { text, target }) => {
    const { id, dependencies, messageIds } = await threeTurns();
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');
    await answered(dependencies, asked);
    const plain = request(id, text, asked.message.id);
    const other =
      target === undefined
        ? plain
        : { ...plain, replacing: { kind: 'edit' as const, messageId: messageIds[target] ?? '' } };

    await expect(sendMessage(dependencies, other)).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_KEY_REUSED',
    });
  });
});

describe('an edit of a turn in a summary without sources', () => {
  /** Chat beside the worker; its model reports no tokens, so that the meter counts them. */
  const onlyChat = (bench: ReturnType<typeof compactionBench>) =>
    chatDependencies({
      store: bench.store,
      clock: bench.clock,
      model: scriptedStreamer({ chunks: [{ parts: [{ text: 'Fine.' }], finishReason: 'STOP' }] })
        .model,
    });

  test('editing a folded turn drops its summary and restores earlier turns verbatim', async () => {
    const bench = geminiCliBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);

    await answered(onlyChat(bench), edit(conversationId, 'message-3', 'Something else.'));

    const { conversation, history, items, text } = await see(bench.store, conversationId);
    expect(conversation).toMatchObject({
      generation: 2,
      coveredThrough: { seq: 0, contentIndex: 0 },
    });
    expect(history).toMatchObject({ state: 'CHANGED', parent: 1, snapshotText: '' });
    expect(items.map(({ seq }) => seq)).toEqual([1, 1, 2, 2, 21, 21]);
    expect(text).not.toContain('Question 3');
  });

  test('an edit behind the summary keeps the summary', async () => {
    const bench = geminiCliBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const before = await see(bench.store, conversationId);

    await answered(onlyChat(bench), edit(conversationId, 'message-20', 'Something else.'));

    const after = await see(bench.store, conversationId);
    expect(after.conversation).toMatchObject({
      generation: 2,
      coveredThrough: before.conversation.coveredThrough,
    });
    expect(after.history?.snapshotText).toBe(before.history?.snapshotText);
    expect(after.text).not.toContain('Question 20');
  });
});

test('a replaced message is not edited', async () => {
  const { id, dependencies, messageIds } = await threeTurns();
  const [, two = ''] = messageIds;
  await answered(dependencies, edit(id, two, 'two, corrected'));

  const asked = sendMessage(dependencies, edit(id, two, 'again'));

  await expect(asked).rejects.toMatchObject({
    status: 'FAILED_PRECONDITION',
    reason: 'MESSAGE_REPLACED',
    metadata: { messageId: two },
  });
});

test.each(['m_2', 'its own id'])(
  'a message without its deleted answer is regenerated, named by %s',
  async (by) => {
    const chat = chatDependencies();
    const id = randomUUID();
    await answered(chat, request(id, 'one'));
    const asked = request(id, 'two');
    await answered(chat, asked);
    await removeMessage({ chat }, id, 'm_2');

    const turn = await answered(chat, regenerate(id, by === 'm_2' ? by : asked.message.id));

    expect(turn).toMatchObject({ seq: 3, replaces: 2, state: 'done' });
    expect(await shownTexts(chat, id)).toEqual(['one', 'Fine.', 'two', 'Fine.']);
  },
);

test('a deleted message is neither edited nor regenerated', async () => {
  const chat = chatDependencies();
  const id = randomUUID();
  const asked = request(id, 'one');
  await answered(chat, asked);
  await removeMessage({ chat }, id, asked.message.id);

  for (const again of [edit(id, asked.message.id, 'x'), regenerate(id, 'm_1')])
    await expect(sendMessage(chat, again)).rejects.toMatchObject({ reason: 'MESSAGE_NOT_FOUND' });
});

test.each(['the answer', 'the message'])(
  'a regenerated answer by the id of %s replaces the last one',
  async (by) => {
    const { model, requests } = scriptedStreamer(textAnswer('First.'), textAnswer('Second.'));
    const dependencies = chatDependencies({ model });
    const id = randomUUID();
    const asked = request(id, 'Hello');
    await answered(dependencies, asked);

    const turn = await answered(
      dependencies,
      regenerate(id, by === 'the answer' ? 'm_1' : asked.message.id),
    );

    expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
    expect(contentText(turn.user)).toBe('Hello');
    expect(requests[1]?.contents.map(contentText)).toEqual(['Hello']);
    expect(await shownTexts(dependencies, id)).toEqual(['Hello', 'Second.']);
  },
);

test.each(['m_1', 'm_3'])(
  'a regeneration is refused for %s when the last answer is m_2',
  async (messageId) => {
    const dependencies = chatDependencies();
    const id = randomUUID();
    await answered(dependencies, request(id, 'one'));
    await answered(dependencies, request(id, 'two'));

    const asked = sendMessage(dependencies, regenerate(id, messageId));

    await expect(asked).rejects.toMatchObject({
      reason: messageId === 'm_1' ? 'NOT_THE_LAST_ANSWER' : 'MESSAGE_NOT_FOUND',
    });
  },
);
