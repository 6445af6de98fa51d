import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { QUEUE_MAX } from '#shared/conversation/decisions/queue-decision.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { passTime } from '#test/support/pass-time.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import { deadWaiter, instances, queued, turnsOf } from '#test/support/chat/starts.ts';

describe('a message that waits for its turn', () => {
  test('a waiting message is stored at once and answered after the one before it', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const first = await sendMessage(chat, request(id, 'one'));
    await world.called(1);

    const second = await sendMessage(chat, queued(id, 'two'));

    const waiting = await turnsOf(chat, id, 2);
    expect(second.turnId).toBe('t_2');
    expect(waiting[1]).toMatchObject({ state: 'queued', user: { parts: [{ text: 'two' }] } });
    expect((await readConversation(chat.store, id))?.value).toMatchObject({
      lastSeq: 2,
      open: { seq: 1 },
    });
    world.answerAll();
    await first.result;
    const { turn } = await passTime(world.clock, second.result);
    expect(turn).toMatchObject({ seq: 2, state: 'done' });
    expect(world.calls[1]?.request.contents.map(contentText)).toEqual([
      'one',
      'Answer to one.',
      'two',
    ]);
    expect((await readConversation(chat.store, id))?.value.queue).toBeUndefined();
  });

  test('a waiting message streams its answer to its sender', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    await sendMessage(chat, request(id, 'one'));
    const second = await sendMessage(chat, queued(id, 'two'));
    const frames = collect(second.frames());

    world.answerAll();

    expect(textOf(await passTime(world.clock, frames))).toBe('Answer to two.');
  });

  test('waiting messages are answered in order of arrival, whichever instance waits', async () => {
    const world = instances();
    const chats = [world.instance(), world.instance(), world.instance()];
    const id = randomUUID();
    const handles = [];
    for (const [i, chat] of chats.entries())
      handles.push(await sendMessage(chat, queued(id, `message ${i}`)));

    world.answerAll();
    await passTime(world.clock, Promise.all(handles.map(({ result }) => result)));

    expect(world.calls.map(({ text }) => text)).toEqual(['message 0', 'message 1', 'message 2']);
  });

  test('twenty waiting messages sent at once are answered once in the order of seq', async () => {
    const world = instances();
    const chats = [world.instance(), world.instance()];
    const id = randomUUID();
    world.answerAll();

    const sent = await passTime(
      world.clock,
      Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          sendMessage(chats[i % 2] ?? world.instance(), queued(id, `m${i}`)),
        ),
      ),
    );
    const results = await passTime(world.clock, Promise.all(sent.map(({ result }) => result)));

    const inOrder = results.map(({ turn }) => turn).toSorted((a, b) => a.seq - b.seq);
    expect(inOrder.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(world.calls.map(({ text }) => text)).toEqual(
      inOrder.map(({ user }) => contentText(user)),
    );
    expect(inOrder.every(({ state, inContext }) => state === 'done' && inContext)).toBe(true);
  });

  test('a waiting message over the queue limit is refused with the reason', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    await sendMessage(chat, request(id, 'first'));
    for (let i = 0; i < QUEUE_MAX; i++) await sendMessage(chat, queued(id, `waiting ${i}`));

    const oneMore = sendMessage(chat, queued(id, 'one more'));

    await expect(oneMore).rejects.toMatchObject({
      status: 'ABORTED',
      reason: 'TURN_IN_PROGRESS',
      publicMessage: expect.stringContaining('20 messages'),
    });
    expect((await readConversation(chat.store, id))?.value.lastSeq).toBe(1 + QUEUE_MAX);
  });

  test('the conversation’s setting can make messages wait', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    await sendMessage(chat, request(id, 'one'));
    await chat.store.commit([
      {
        op: 'update',
        path: `conversations/${id}`,
        fields: { 'settings.onBusy': 'queue' },
        guard: { exists: true },
      },
    ]);

    const second = await sendMessage(chat, request(id, 'two'));

    expect(second.turnId).toBe('t_2');
    await expect(
      sendMessage(chat, { ...request(id, 'three'), onBusy: 'reject' }),
    ).rejects.toMatchObject({ reason: 'TURN_IN_PROGRESS' });
  });

  test('a waiting message is not overtaken by one that does not wait', async () => {
    const world = instances();
    const id = randomUUID();
    const dead = world.dyingAt('turn-started');
    await sendMessage(dead, request(id, 'one'));
    const chat = world.instance();
    await sendMessage(chat, queued(id, 'two'));
    await passTime(world.clock, world.clock.wait(19_000));

    const third = sendMessage(chat, request(id, 'three'));

    await expect(third).rejects.toMatchObject({ reason: 'TURN_IN_PROGRESS', retryable: true });
  });
});

describe('a message that nobody waits with any more', () => {
  test('an abandoned waiting message does not block the next one', async () => {
    const { world, chat, id, first } = await deadWaiter();
    const third = await sendMessage(chat, queued(id, 'three'));

    world.answerAll();
    await first.result;
    const { turn } = await passTime(world.clock, third.result);

    const [, second] = await turnsOf(chat, id, 2);
    expect(turn).toMatchObject({ seq: 3, state: 'done' });
    expect(second).toMatchObject({
      state: 'failed',
      inContext: false,
      error: { reason: 'TURN_ABANDONED' },
    });
    expect((await readConversation(chat.store, id))?.value.queue).toBeUndefined();
  });

  test('an abandoned waiting message is closed by the next message, which starts at once', async () => {
    const { world, chat, id, first } = await deadWaiter();
    world.answerAll();
    await first.result;
    await passTime(world.clock, world.clock.wait(22_001));

    const { turn } = await (await sendMessage(chat, request(id, 'three'))).result;

    const [, second] = await turnsOf(chat, id, 2);
    expect(turn).toMatchObject({ seq: 3, state: 'done' });
    expect(second?.state).toBe('failed');
    expect((await readConversation(chat.store, id))?.value.queue).toBeUndefined();
  });

  test('a waiting message stays open while its waiter renews it', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const first = await sendMessage(chat, request(id, 'one'));
    const second = await sendMessage(world.instance(), queued(id, 'two'));

    await passTime(world.clock, world.clock.wait(120_000));

    expect((await turnsOf(chat, id, 2)).map(({ state }) => state)).toEqual(['running', 'queued']);
    world.answerAll();
    await first.result;
    expect((await passTime(world.clock, second.result)).turn.state).toBe('done');
  });
});

describe('what stands before a waiting message', () => {
  test('a dead instance’s turn before a waiting message is closed', async () => {
    const world = instances();
    const id = randomUUID();
    await sendMessage(world.dyingAt('turn-started'), request(id, 'one'));
    const chat = world.instance();
    const second = await sendMessage(chat, queued(id, 'two'));
    world.answerAll();

    const { turn } = await passTime(world.clock, second.result);

    const [first] = await turnsOf(chat, id, 1);
    expect(turn).toMatchObject({ seq: 2, state: 'done' });
    expect(first).toMatchObject({ state: 'failed', error: { reason: 'TURN_ABANDONED' } });
  });

  test('a dead instance’s turn before a waiting message is taken over by its sender', async () => {
    const world = instances();
    const id = randomUUID();
    const asked = request(id, 'one');
    await sendMessage(world.dyingAt('turn-started'), asked);
    const second = await sendMessage(world.instance(), queued(id, 'two'));
    world.answerAll();

    const again = await sendMessage(world.instance(), asked);

    const results = await passTime(world.clock, Promise.all([again.result, second.result]));
    expect(results.map(({ turn }) => [turn.state, turn.attempt])).toEqual([
      ['done', 2],
      ['done', 1],
    ]);
  });

  test('a cancelled turn before a waiting message is skipped', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const first = await sendMessage(chat, request(id, 'one'));
    const second = await sendMessage(chat, queued(id, 'two'));
    const third = await sendMessage(chat, queued(id, 'three'));

    await passTime(world.clock, requestCancel(chat, { conversationId: id, seq: 2 }));
    world.answerAll();
    await first.result;
    const cancelled = await passTime(world.clock, second.result);
    const answered = await passTime(world.clock, third.result);

    expect(cancelled.turn).toMatchObject({ seq: 2, state: 'cancelled', inContext: false });
    expect((await collect(second.frames())).map(({ chunk }) => chunk.type)).toContain('abort');
    expect(answered.turn.state).toBe('done');
    expect(world.calls.map(({ text }) => text)).toEqual(['one', 'three']);
  });
});
