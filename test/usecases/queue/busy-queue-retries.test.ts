import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { passTime } from '#test/support/pass-time.ts';
import { request } from '#test/support/chat/sending.ts';
import { deadWaiter, instances, queued } from '#test/support/chat/starts.ts';

describe('the same waiting message sent again', () => {
  test('a repeated waiting message waits for the same turn, from another instance too', async () => {
    const world = instances();
    const [one, two] = [world.instance(), world.instance()];
    const id = randomUUID();
    await sendMessage(one, request(id, 'one'));
    const asked = queued(id, 'two');
    const handle = await sendMessage(one, asked);

    const again = await sendMessage(two, asked);

    world.answerAll();
    const [first, second] = await passTime(world.clock, Promise.all([handle.result, again.result]));
    expect([handle.turnId, again.turnId]).toEqual(['t_2', 't_2']);
    expect(second.turn.contents).toEqual(first.turn.contents);
    expect(world.calls).toHaveLength(2);
  });

  test('a message that waits with five instances is answered by one of them', async () => {
    const world = instances();
    const id = randomUUID();
    const first = await sendMessage(world.instance(), request(id, 'one'));
    const asked = queued(id, 'two');
    const waiting = [];
    for (let sent = 0; sent < 5; sent++) waiting.push(await sendMessage(world.instance(), asked));

    world.answerAll();
    await first.result;
    await passTime(world.clock, Promise.all(waiting.map(({ result }) => result)));

    expect(world.calls.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  test('a repeated waiting message with another body is refused', async () => {
    const world = instances();
    const chat = world.instance();
    const [id, messageId] = [randomUUID(), randomUUID()];
    await sendMessage(chat, request(id, 'one'));
    await sendMessage(chat, queued(id, 'two', messageId));

    const other = sendMessage(chat, queued(id, 'something else', messageId));

    await expect(other).rejects.toMatchObject({ reason: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('a repeated waiting message is waited for again after its instance died', async () => {
    const { world, chat, first, asked } = await deadWaiter();
    await passTime(world.clock, world.clock.wait(20_001));

    const again = await sendMessage(chat, asked);

    world.answerAll();
    await first.result;
    const { turn } = await passTime(world.clock, again.result);
    expect(turn).toMatchObject({ seq: 2, state: 'done', attempt: 1 });
  });

  test('a repeated waiting message of a dead instance is answered before a later one', async () => {
    const { world, chat, id, first, asked } = await deadWaiter();
    const third = await sendMessage(chat, queued(id, 'three'));
    world.answerAll();
    await first.result;

    const again = await sendMessage(world.instance(), asked);

    const results = await passTime(world.clock, Promise.all([again.result, third.result]));
    expect(results.map(({ turn }) => turn.state)).toEqual(['done', 'done']);
    expect(world.calls.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
  });

  test('a repeated waiting message continues after its waiter’s process ended', async () => {
    const world = instances();
    const id = randomUUID();
    const first = await sendMessage(world.instance(), request(id, 'one'));
    const ending = new AbortController();
    const asked = queued(id, 'two');
    const handle = await sendMessage(world.instance({ shutdown: ending.signal }), asked);

    ending.abort();
    await expect(passTime(world.clock, handle.result)).rejects.toMatchObject({
      reason: 'SHUTTING_DOWN',
      retryable: true,
    });

    const again = await sendMessage(world.instance(), asked);
    world.answerAll();
    await first.result;
    expect((await passTime(world.clock, again.result)).turn).toMatchObject({
      seq: 2,
      state: 'done',
    });
  });

  test('a repeated waiting message is taken over when its instance died at the start', async () => {
    const { world, chat, first, asked } = await deadWaiter('queued-turn-begun');
    world.answerAll();
    await first.result;
    await passTime(world.clock, world.clock.wait(21_000));

    const again = await passTime(world.clock, sendMessage(chat, asked));

    const { turn } = await passTime(world.clock, again.result);
    expect(turn).toMatchObject({ seq: 2, state: 'done', attempt: 2 });
    expect(world.calls.map(({ text }) => text)).toEqual(['one', 'two']);
  });
});

describe('a lost reply', () => {
  const lostAt = (commit: number) => {
    let commits = 0;
    return createMemoryDocumentStore({
      afterCommit: () => {
        commits += 1;
        return commits === commit
          ? Promise.reject(new StoreUnavailableError({ operation: 'commit' }))
          : Promise.resolve();
      },
    });
  };

  test('a lost reply of storing a waiting message leaves one turn', async () => {
    const world = instances();
    const chat = world.instance({ store: lostAt(2) });
    const id = randomUUID();
    const first = await sendMessage(world.instance({ store: chat.store }), request(id, 'one'));

    const second = await sendMessage(chat, queued(id, 'two'));

    world.answerAll();
    await first.result;
    expect((await passTime(world.clock, second.result)).turn).toMatchObject({ seq: 2, attempt: 1 });
    expect((await readConversation(chat.store, id))?.value.lastSeq).toBe(2);
  });

  test.each([3, 4, 5, 6, 7, 8])(
    'a lost reply of commit %i leaves one answer to each waiting message',
    async (lost) => {
      const world = instances();
      const chat = world.instance({ store: lostAt(lost) });
      const id = randomUUID();
      const asked = [request(id, 'one'), queued(id, 'two'), queued(id, 'three')];
      const handles = [];
      for (const each of asked) handles.push(await sendMessage(chat, each));

      world.answerAll();
      const results = await passTime(world.clock, Promise.all(handles.map(({ result }) => result)));

      expect(results.map(({ turn }) => turn.state)).toEqual(['done', 'done', 'done']);
      expect(world.calls.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    },
  );
});
