import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { noQuota as unlimited } from '#test/fakes/no-quota.ts';
import { AppError } from '#shared/errors.ts';
import { passTime } from '#test/support/pass-time.ts';
import { request } from '#test/support/chat/sending.ts';
import { instances, queued, turnsOf } from '#test/support/chat/starts.ts';

test('a waiting message that becomes unanswerable fails with the reason; the next is answered', async () => {
  const world = instances({ MODEL_WINDOWS: '{"gemini-3.8-flash":1000}' });
  const chat = world.instance();
  const id = randomUUID();
  const first = await sendMessage(chat, request(id, 'one'));
  // Fits the window of an empty conversation, and not behind another message.
  const tooLong = queued(id, 'word '.repeat(948));
  const second = await sendMessage(chat, tooLong);
  const third = await sendMessage(chat, queued(id, 'three'));

  world.answerAll();
  await first.result;
  await expect(passTime(world.clock, second.result)).rejects.toMatchObject({
    reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
    retryable: false,
  });

  expect((await passTime(world.clock, third.result)).turn.state).toBe('done');
  const [, failed] = await turnsOf(chat, id, 2);
  expect(failed).toMatchObject({
    state: 'failed',
    user: { parts: [{ text: expect.any(String) }] },
  });
});

describe('a waiting message whose user has no quota when its turn comes', () => {
  const noQuota = (retryAfterMs: number) =>
    new AppError({
      status: 'RESOURCE_EXHAUSTED',
      reason: 'USER_DAILY_TOKENS',
      message: 'no quota',
      publicMessage: 'Too many messages.',
      retryable: true,
      retryAfterMs,
    });

  /** A message that is being answered, and a second one that has no quota for `retryAfterMs` once it has waited. */
  async function refusedFor(retryAfterMs: number, second: ReturnType<typeof queued>) {
    const world = instances();
    let untilMs = 0;
    const reserve: typeof unlimited.reserve = (asked) =>
      asked.messageId === second.message.id && world.clock.now().getTime() < untilMs
        ? Promise.reject(noQuota(untilMs - world.clock.now().getTime()))
        : unlimited.reserve(asked);
    const chat = world.instance({ quota: { ...unlimited, reserve } });
    const first = await sendMessage(chat, request(second.conversationId, 'one'));
    const handle = await sendMessage(chat, second);
    untilMs = world.clock.now().getTime() + retryAfterMs;
    world.answerAll();
    await first.result;
    return { world, chat, handle };
  }

  test('a waiting message without quota waits for a minute limit', async () => {
    const asked = queued(randomUUID(), 'two');
    const { world, handle } = await refusedFor(60_000, asked);

    const { turn } = await passTime(world.clock, handle.result);

    expect(turn).toMatchObject({ seq: 2, attempt: 1, state: 'done' });
  });

  test('a waiting message stops waiting for a limit when it is cancelled', async () => {
    const asked = queued(randomUUID(), 'two');
    const { world, chat, handle } = await refusedFor(60_000, asked);
    await passTime(world.clock, world.clock.wait(5_000));

    await requestCancel(chat, { conversationId: asked.conversationId, seq: 2 });
    const { turn } = await passTime(world.clock, handle.result);

    expect(turn).toMatchObject({ seq: 2, state: 'cancelled' });
    expect(world.calls).toHaveLength(1);
  });

  test('a waiting message over a daily limit gets a retry time and is answered then', async () => {
    const asked = queued(randomUUID(), 'two');
    const { world, chat, handle } = await refusedFor(3_600_000, asked);

    await expect(passTime(world.clock, handle.result)).rejects.toMatchObject({
      reason: 'USER_DAILY_TOKENS',
      retryable: true,
    });
    await expect(sendMessage(chat, asked)).rejects.toMatchObject({ reason: 'USER_DAILY_TOKENS' });
    world.clock.advance(3_600_000);
    const { turn } = await (await sendMessage(chat, asked)).result;

    expect(turn).toMatchObject({ seq: 2, attempt: 2, state: 'done' });
  });

  test('a resent waiting edit over its limit then replaces its target', async () => {
    const asked = {
      ...queued(randomUUID(), ''),
      replacing: { kind: 'regenerate' as const, messageId: 'm_1' },
    };
    const { world, chat, handle } = await refusedFor(3_600_000, asked);
    await expect(passTime(world.clock, handle.result)).rejects.toMatchObject({ retryable: true });
    world.clock.advance(3_600_000);

    const { turn } = await (await sendMessage(chat, asked)).result;

    expect(turn).toMatchObject({ seq: 2, state: 'done', inContext: true });
    expect((await turnsOf(chat, asked.conversationId, 2))[0]).toMatchObject({ inContext: false });
    expect(world.calls.map(({ text }) => text)).toEqual(['one', 'one']);
  });
});
