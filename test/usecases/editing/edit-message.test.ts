import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { statusPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { passTime } from '#test/support/pass-time.ts';
import { edit, shownTexts, threeTurns } from '#test/support/chat/replacing.ts';
import { request, sendAll } from '#test/support/chat/sending.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';
import { answered, instances, turnsOf } from '#test/support/chat/starts.ts';

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

  test('an edit leaves a context that /context shows as the next prompt contains it', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ model }));
    await answered(dependencies, edit(id, messageIds[0] ?? '', 'one, corrected'));
    const shown = await shownTexts(dependencies, id);

    await sendAll(dependencies, id, ['next']);

    expect(shown).toEqual(['one, corrected', 'Fine.']);
    expect(requests.at(-1)?.contents.map(contentText)).toEqual([...shown, 'next']);
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

  test('an edit reports the new generation to the owner’s other devices', async () => {
    const { id, dependencies, messageIds } = await threeTurns();

    await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

    const [status] = await dependencies.store.get([statusPath(id)]);
    expect(status?.fields).toMatchObject({ generation: 1 });
  });

  test('an edited message can be edited again', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const again = edit(id, messageIds[1] ?? '', 'second version');
    await answered(dependencies, again);

    const turn = await answered(dependencies, edit(id, again.message.id, 'third version'));

    expect(turn).toMatchObject({ seq: 5, replaces: 4 });
    expect(await shownTexts(dependencies, id)).toEqual(['one', 'Fine.', 'third version', 'Fine.']);
    expect((await readConversation(dependencies.store, id))?.value.generation).toBe(2);
  });
});

describe('an edit that is refused', () => {
  test('an edit is refused because the conversation has no such message', async () => {
    const { id, dependencies } = await threeTurns();

    await expect(sendMessage(dependencies, edit(id, randomUUID(), 'x'))).rejects.toMatchObject({
      status: 'NOT_FOUND',
      reason: 'MESSAGE_NOT_FOUND',
    });
  });

  test('an edit is refused because its target is an answer', async () => {
    const { id, dependencies } = await threeTurns();

    await expect(sendMessage(dependencies, edit(id, 'm_2', 'x'))).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'NOT_A_USER_MESSAGE',
    });
  });

  test('an edit of another user’s or unknown conversation is refused in the same words', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const theirs = edit(id, messageIds[0] ?? '', 'x');
    const caller = { uid: 'another', tier: 'signedIn' } as const;

    const [foreign, unknown] = await Promise.allSettled([
      sendMessage(dependencies, { ...theirs, caller }),
      sendMessage(dependencies, { ...theirs, conversationId: randomUUID() }),
    ]);

    const publicMessage = expect.any(String);
    const reason = { reason: 'CONVERSATION_NOT_FOUND', publicMessage };
    expect([foreign, unknown]).toMatchObject([{ reason }, { reason }]);
  });

  test('an edit is refused when more turns would be replaced than one batch holds', async () => {
    const dependencies = chatDependencies();
    const { conversationId } = await buildConversation(dependencies.store, { turns: 401 });

    const tooFar = sendMessage(dependencies, edit(conversationId, 'message-1', 'x'));
    await expect(tooFar).rejects.toMatchObject({
      reason: 'EDIT_TOO_FAR_BACK',
      metadata: { replacedTurns: '401', replacedTurnsMax: '400' },
    });

    const turn = await answered(dependencies, edit(conversationId, 'message-2', 'x'));
    expect(turn).toMatchObject({ seq: 402, replaces: 2, state: 'done' });
  });

  test('an edit is refused while its own message is being answered', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const running = request(id, 'one');
    await sendMessage(chat, running);

    const asked = sendMessage(chat, edit(id, running.message.id, 'one, corrected'));

    await expect(asked).rejects.toMatchObject({ reason: 'TURN_IN_PROGRESS' });
  });
});

describe('an edit while another message is being answered', () => {
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

  test('an edit with onBusy interrupt cancels the running answer and replaces it', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const running = request(id, 'one');
    await sendMessage(chat, running);
    await world.called(1);

    const asked = {
      ...edit(id, running.message.id, 'one, corrected'),
      onBusy: 'interrupt' as const,
    };
    const handle = await passTime(world.clock, sendMessage(chat, asked));
    world.answerAll();
    const { turn } = await passTime(world.clock, handle.result);

    expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
    expect((await turnsOf(chat, id, 2)).map(({ state, inContext }) => [state, inContext])).toEqual([
      ['cancelled', false],
      ['done', true],
    ]);
  });
});
