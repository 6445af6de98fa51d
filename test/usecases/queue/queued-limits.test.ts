import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createQuota } from '#functions/quota/create-quota.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import { eventually } from '#test/support/eventually.ts';
import { passTime } from '#test/support/pass-time.ts';
import { HOUSE_PRICES } from '#test/support/chat/quotas.ts';
import { request } from '#test/support/chat/sending.ts';
import { instances, queued, turnsOf } from '#test/support/chat/starts.ts';

/** Instances of one deployment with the quotas that `environment` sets. */
function limitedInstances(environment: Record<string, string>) {
  const world = instances({ ...HOUSE_PRICES, ...environment });
  const limited = () => {
    const dependencies = world.instance();
    return { ...dependencies, quota: createQuota(dependencies) };
  };
  return { ...world, limited };
}

type Chat = ReturnType<ReturnType<typeof limitedInstances>['limited']>;

/** The state that a message came to, or why it was refused. */
async function outcomeOf(chat: Chat, asked: SendRequest) {
  try {
    const { result } = await sendMessage(chat, asked);
    return { state: (await result).turn.state };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, reason, retryable, retryAfterMs } = error;
    return { status, reason, retryable, retryAfterMs };
  }
}

const statesOf = async (chat: Chat, conversationId: string) => {
  const lastSeq = (await readConversation(chat.store, conversationId))?.value.lastSeq ?? 0;
  return (await turnsOf(chat, conversationId, lastSeq)).map(({ state }) => state);
};

/** Resolves when so many messages of a conversation are stored. */
const untilStored = (chat: Chat, conversationId: string, count: number) =>
  eventually(`${count} stored messages`, async () =>
    (await statesOf(chat, conversationId)).length >= count ? true : undefined,
  );

describe('messages that wait under a limit of a minute', () => {
  test('40 messages over a minute limit all wait and are answered', async () => {
    const world = limitedInstances({ USER_REQUESTS_PER_MINUTE: '10' });
    const chats = [world.limited(), world.limited()];
    const ids = [randomUUID(), randomUUID()];
    const waiting: Promise<unknown>[] = [];
    for (let n = 0; n < 40; n++) {
      const chat = chats[n % 2] ?? world.limited();
      // Resolves once the message is stored.
      const { result } = await sendMessage(
        chat,
        queued(ids[Math.floor(n / 20)] ?? '', `message ${n}`),
      );
      waiting.push(result.then(({ turn }) => turn.state));
    }

    world.answerAll();
    const told = await passTime(world.clock, Promise.all(waiting), 500);

    const stored = await Promise.all(ids.map((id) => statesOf(world.limited(), id)));
    expect(told).toEqual(Array.from({ length: 40 }, () => 'done'));
    expect(stored.flat()).toEqual(Array.from({ length: 40 }, () => 'done'));
  });

  test('messages over a minute limit wait for another conversation’s reservation', async () => {
    const world = limitedInstances({ STREAMS_PER_USER: '1' });
    const chat = world.limited();
    const [other, id] = [randomUUID(), randomUUID()];
    const elsewhere = await sendMessage(chat, request(other, 'elsewhere'));
    const first = await sendMessage(world.instance(), request(id, 'one'));
    const second = outcomeOf(chat, queued(id, 'two'));
    const [held, one] = await world.called(2);
    await untilStored(chat, id, 2);
    one?.answer();
    await passTime(world.clock, first.result);
    await passTime(world.clock, world.clock.wait(12_000));
    const whileHeld = await statesOf(chat, id);

    held?.answer();
    await elsewhere.result;
    world.answerAll();

    expect(await passTime(world.clock, second)).toEqual({ state: 'done' });
    expect(whileHeld).toEqual(['done', 'queued']);
  });
});

describe('messages that wait when a limit of the day is reached', () => {
  /** A first message that is being answered, and room for no other on this day. */
  async function spentDay(behind: readonly SendRequest[]) {
    const world = limitedInstances({ USER_DAILY_MESSAGES: '2' });
    const chat = world.limited();
    const [asked] = behind;
    const id = asked?.conversationId ?? '';
    const first = await sendMessage(chat, request(id, 'one'));
    await world.called(1);
    const waiting: ReturnType<typeof outcomeOf>[] = [];
    for (const each of behind) {
      waiting.push(outcomeOf(chat, each));
      await untilStored(chat, id, waiting.length + 1);
    }
    world.answerAll();
    await first.result;
    return { world, chat, outcomes: await passTime(world.clock, Promise.all(waiting)) };
  }

  test('waiting messages over a daily limit end as 429 and are answered when resent', async () => {
    const id = randomUUID();
    const behind = ['two', 'three', 'four'].map((text) => queued(id, text));
    const { world, chat, outcomes } = await spentDay(behind);

    world.clock.advance(24 * 60 * 60_000);
    const again = behind.slice(1).map((each) => outcomeOf(chat, each));
    const answered = await passTime(world.clock, Promise.all(again));

    const refusal = { status: 'RESOURCE_EXHAUSTED', retryable: true };
    expect(outcomes[0]).toEqual({ state: 'done' });
    expect(outcomes.slice(1)).toMatchObject([refusal, refusal]);
    expect(outcomes[1]?.retryAfterMs).toBeGreaterThan(60 * 60_000);
    expect(answered.filter(({ state }) => state === 'done').length).toBeGreaterThan(0);
    expect((await statesOf(chat, id)).slice(0, 2)).toEqual(['done', 'done']);
  });

  test('resent messages are checked against the quota each time', async () => {
    const id = randomUUID();
    const behind = ['two', 'three'].map((text) => queued(id, text));
    const { world, outcomes } = await spentDay(behind);
    const generous = world.instance();

    const again = await passTime(
      world.clock,
      outcomeOf({ ...generous, quota: createQuota(generous) }, behind[1] ?? queued(id, '')),
    );

    expect(outcomes[1]).toMatchObject({ reason: 'USER_DAILY_MESSAGES' });
    expect(again).toMatchObject({ reason: 'USER_DAILY_MESSAGES' });
    const unlimited = world.instance();
    expect(await passTime(world.clock, outcomeOf(unlimited, behind[1] ?? queued(id, '')))).toEqual({
      state: 'done',
    });
  });

  test('messages over a reached daily limit are refused before they are stored', async () => {
    const world = limitedInstances({ USER_DAILY_MESSAGES: '1' });
    const chat = world.limited();
    const [spent, id] = [randomUUID(), randomUUID()];
    world.answerAll();
    await (
      await sendMessage(chat, request(spent, 'one'))
    ).result;
    const free = world.instance();
    const running = await sendMessage(free, request(id, 'one'));

    const refused = await outcomeOf(chat, queued(id, 'two'));

    await running.result;
    expect(refused).toMatchObject({ status: 'RESOURCE_EXHAUSTED', reason: 'USER_DAILY_MESSAGES' });
    expect(await statesOf(chat, id)).toEqual(['done']);
  });
});
