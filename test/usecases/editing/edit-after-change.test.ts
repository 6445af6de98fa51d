import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { owner, removeMessage } from '#test/support/chat/lifecycle.ts';
import { passTime } from '#test/support/pass-time.ts';
import { edit, regenerate, shownTexts } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { answered, instances, turnsOf } from '#test/support/chat/starts.ts';
import { sendAndDie } from '#test/support/chat/streaming.ts';

type Chat = ReturnType<typeof chatDependencies>;

/** Three answered messages, the second of which was edited: turn 4 stands in for turns 2 and 3. */
async function twoBranches(chat: Chat) {
  const id = randomUUID();
  const sent = ['one', 'two', 'three'].map((text) => request(id, text));
  for (const each of sent) await answered(chat, each);
  const [, two = '', three = ''] = sent.map(({ message }) => message.id);
  const corrected = edit(id, two, 'two, corrected');
  await answered(chat, corrected);
  return { id, two, three, corrected: corrected.message.id };
}

describe('a message that another has taken the place of', () => {
  test.each(['two', 'three'] as const)('a replaced message is not edited: %s', async (which) => {
    const chat = chatDependencies();
    const branches = await twoBranches(chat);

    const asked = sendMessage(chat, edit(branches.id, branches[which], 'again'));

    await expect(asked).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'MESSAGE_REPLACED',
      metadata: { messageId: branches[which] },
    });
    expect(await shownTexts(chat, branches.id)).toEqual([
      'one',
      'Fine.',
      'two, corrected',
      'Fine.',
    ]);
  });

  test('a replaced message is edited in a fork where nothing has replaced it', async () => {
    const chat = chatDependencies();
    const { id, three } = await twoBranches(chat);
    const target = { caller: owner, conversationId: id, messageId: three };

    const fork = await forkConversation(chat, target);
    await answered(chat, edit(fork.conversationId, three, 'three, corrected'));

    expect(await shownTexts(chat, fork.conversationId)).toEqual([
      'one',
      'Fine.',
      'two',
      'Fine.',
      'three, corrected',
      'Fine.',
    ]);
  });

  test('a message replaced while an edit waited is not edited', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const [one, two, three] = ['one', 'two', 'three'].map((text) => request(id, text));
    if (!one || !two || !three) throw new Error('three messages');
    const quick = world.instance({ model: scriptedStreamer(textAnswer('Fine.')).model });
    for (const each of [one, two]) await answered(quick, each);
    const running = await sendMessage(chat, three);
    const first = await sendMessage(chat, { ...edit(id, one.message.id, 'A'), onBusy: 'queue' });
    const second = await sendMessage(chat, { ...edit(id, two.message.id, 'B'), onBusy: 'queue' });

    world.answerAll();
    const results = [running.result, first.result, second.result];
    const [, , refused] = await passTime(world.clock, Promise.allSettled(results));

    expect(refused).toMatchObject({ reason: { reason: 'MESSAGE_REPLACED' } });
    expect((await turnsOf(chat, id, 5)).map(({ inContext }) => inContext)).toEqual([
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  test('a message closed by the edit that replaced it is not edited', async () => {
    const clock = createManualClock();
    const chat = chatDependencies({ clock });
    const id = randomUUID();
    const [one, two] = [request(id, 'one'), request(id, 'two')];
    await answered(chat, one);
    await sendAndDie(chat, two);
    clock.advance(60_000);
    await answered(chat, edit(id, one.message.id, 'one, corrected'));
    expect((await turnsOf(chat, id, 2))[1]).toMatchObject({ state: 'failed' });

    const asked = sendMessage(chat, edit(id, two.message.id, 'two, corrected'));

    await expect(asked).rejects.toMatchObject({ reason: 'MESSAGE_REPLACED' });
  });
});

test('a cancelled edit that never began removes nothing from a fork', async () => {
  const world = instances();
  const chat = world.instance();
  const id = randomUUID();
  const one = request(id, 'one');
  const quick = world.instance({ model: scriptedStreamer(textAnswer('Fine.')).model });
  await answered(quick, one);
  const running = await sendMessage(chat, request(id, 'two'));
  await sendMessage(chat, { ...edit(id, one.message.id, 'again'), onBusy: 'queue' });
  await requestCancel(chat, { conversationId: id, seq: 3 });
  world.answerAll();
  await passTime(world.clock, running.result);

  const fork = await forkConversation(chat, {
    caller: owner,
    conversationId: id,
    messageId: 'm_3',
  });

  expect(await shownTexts(chat, fork.conversationId)).toEqual([
    'one',
    'Fine.',
    'two',
    'Answer to two.',
  ]);
});

describe('a message whose answer was deleted', () => {
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

  test('a message without its deleted answer is edited', async () => {
    const chat = chatDependencies();
    const id = randomUUID();
    const asked = request(id, 'one');
    await answered(chat, asked);
    await removeMessage({ chat }, id, 'm_1');

    await answered(chat, edit(id, asked.message.id, 'one, corrected'));

    expect(await shownTexts(chat, id)).toEqual(['one, corrected', 'Fine.']);
  });

  test('a deleted message is neither edited nor regenerated', async () => {
    const chat = chatDependencies();
    const id = randomUUID();
    const asked = request(id, 'one');
    await answered(chat, asked);
    await removeMessage({ chat }, id, asked.message.id);

    for (const again of [edit(id, asked.message.id, 'x'), regenerate(id, 'm_1')])
      await expect(sendMessage(chat, again)).rejects.toMatchObject({ reason: 'MESSAGE_NOT_FOUND' });
  });
});
