import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { request, instances, interrupting, queued, turnsOf } from '#test/support/chat/sending.ts';
import { passTime } from '#test/support/pass-time.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const quick = () => scriptedStreamer(textAnswer('Quick.')).model;

describe('a message that interrupts', () => {
  test('an interrupting message cancels this instance’s running answer and is answered', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const first = await sendMessage(chat, request(id, 'one'));
    await world.called(1);

    const second = await passTime(world.clock, sendMessage(chat, interrupting(id, 'two')));

    expect((await passTime(world.clock, first.result)).turn.state).toBe('cancelled');
    world.answerAll();
    expect((await passTime(world.clock, second.result)).turn).toMatchObject({
      seq: 2,
      state: 'done',
    });
  });

  test('an interrupting message cancels another instance’s answer', async () => {
    const world = instances();
    const id = randomUUID();
    const first = await sendMessage(world.instance(), request(id, 'one'));
    await world.called(1);
    const other = world.instance({ model: quick() });

    const second = await passTime(world.clock, sendMessage(other, interrupting(id, 'two')));

    expect((await passTime(world.clock, first.result)).turn.state).toBe('cancelled');
    expect((await passTime(world.clock, second.result)).turn.state).toBe('done');
  });

  test('an interrupting message waits at most a lease for a dead instance', async () => {
    const world = instances();
    const id = randomUUID();
    await sendMessage(world.dyingAt('turn-started'), request(id, 'one'));
    const chat = world.instance({ model: quick() });
    const startMs = world.clock.now().getTime();

    const second = await passTime(world.clock, sendMessage(chat, interrupting(id, 'two')));

    const waitedMs = world.clock.now().getTime() - startMs;
    expect(waitedMs).toBeLessThan(26_000);
    expect((await passTime(world.clock, second.result)).turn.state).toBe('done');
    const [first] = await turnsOf(chat, id, 1);
    expect(first).toMatchObject({ state: 'cancelled', inContext: false });
  });

  test('an interrupting message cancels waiting ones too, unanswered', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    await sendMessage(chat, request(id, 'one'));
    const waiting = [
      await sendMessage(chat, queued(id, 'two')),
      await sendMessage(world.instance(), queued(id, 'three')),
    ];
    await world.called(1);

    const last = await passTime(world.clock, sendMessage(chat, interrupting(id, 'four')));
    world.answerAll();
    const ended = await passTime(world.clock, Promise.all(waiting.map(({ result }) => result)));

    expect((await passTime(world.clock, last.result)).turn).toMatchObject({
      seq: 4,
      state: 'done',
    });
    expect(ended.map(({ turn }) => turn.state)).toEqual(['cancelled', 'cancelled']);
    expect(world.calls.map(({ text }) => text)).toEqual(['one', 'four']);
    expect((await readConversation(chat.store, id))?.value.queue).toBeUndefined();
  });

  test.each(['interrupt', 'queue'] as const)(
    'an unanswerable interrupting message is refused and changes nothing (%s)',
    async (onBusy) => {
      const world = instances({ MODEL_WINDOWS: '{"gemini-3.8-flash":1000}' });
      const chat = world.instance();
      const id = randomUUID();
      const first = await sendMessage(chat, request(id, 'one'));
      const tooLong = { ...request(id, 'word '.repeat(5_000)), onBusy };

      await expect(sendMessage(chat, tooLong)).rejects.toMatchObject({
        reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
        metadata: { estimatedRequestTokenCount: '5000', remainingTokenCount: '1000' },
      });

      expect((await readConversation(chat.store, id))?.value).toMatchObject({ lastSeq: 1 });
      world.answerAll();
      expect((await passTime(world.clock, first.result)).turn.state).toBe('done');
    },
  );
});
