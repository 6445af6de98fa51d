import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { noQuota as unlimited } from '../../functions/src/quota/no-quota.ts';
import { AppError } from '../../shared/errors.ts';
import { passTime } from '../support/pass-time.ts';
import { request } from '../support/sending.ts';
import { instances, queued, turnsOf } from '../support/starts.ts';

describe('a waiting message that cannot be answered when its turn comes', () => {
  test('ends as failed with the reason, and the next one is answered', async () => {
    const world = instances({ MODEL_WINDOWS: '{"gemini-3.5-flash":1000}' });
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
});

describe('a waiting message whose user has no quota when its turn comes', () => {
  const noQuota = new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason: 'USER_RPM',
    message: 'no quota',
    publicMessage: 'Too many messages.',
    retryable: true,
    retryAfterMs: 60_000,
  });

  /** Two messages; there is no quota for the second one for a minute. */
  async function refusedForAMinute(second: ReturnType<typeof queued>) {
    const world = instances();
    const untilMs = world.clock.now().getTime() + 60_000;
    const reserve = ({ messageId }: { messageId: string }) =>
      messageId === second.message.id && world.clock.now().getTime() < untilMs
        ? Promise.reject(noQuota)
        : Promise.resolve(undefined);
    const chat = world.instance({ quota: { ...unlimited, reserve } });
    const first = await sendMessage(chat, request(second.conversationId, 'one'));
    const handle = await sendMessage(chat, second);
    world.answerAll();
    await first.result;
    await expect(passTime(world.clock, handle.result)).rejects.toMatchObject({
      reason: 'USER_RPM',
    });
    return { world, chat };
  }

  test('is told how long to wait, and answered when it is sent again', async () => {
    const asked = queued(randomUUID(), 'two');
    const { world, chat } = await refusedForAMinute(asked);

    await expect(sendMessage(chat, asked)).rejects.toMatchObject({ reason: 'USER_RPM' });
    world.clock.advance(61_000);
    const { turn } = await (await sendMessage(chat, asked)).result;

    expect(turn).toMatchObject({ seq: 2, attempt: 2, state: 'done' });
  });

  test('is not answered any more when it should have replaced something', async () => {
    const asked = {
      ...queued(randomUUID(), ''),
      replacing: { kind: 'regenerate' as const, messageId: 'm_1' },
    };
    const { world, chat } = await refusedForAMinute(asked);
    world.clock.advance(61_000);

    const again = (await sendMessage(chat, asked)).result;

    await expect(again).rejects.toMatchObject({ reason: 'USER_RPM', retryable: false });
    expect((await turnsOf(chat, asked.conversationId, 2))[0]?.inContext).toBe(true);
  });
});
