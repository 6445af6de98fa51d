import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { createQuota } from '#functions/quota/create-quota.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import { APP_ANSWERS_FIRST_MS, QUEUE_MAX } from '#shared/conversation/start-decision.ts';
import { AppError } from '#shared/lib/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { noQuota as unlimited } from '#test/fakes/no-quota.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { HOUSE_PRICES } from '#test/support/chat/quotas.ts';
import { answered, request, instances, queued, turnsOf } from '#test/support/chat/sending.ts';
import { passTime } from '#test/support/pass-time.ts';
import { withAppTools } from '#test/support/tools/tool-world.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const usage = { promptTokens: 10, cachedTokens: 0, outputTokens: 5, thoughtsTokens: 0 };

const interrupting = (conversationId: string, text: string) => ({
  ...request(conversationId, text),
  onBusy: 'interrupt' as const,
});

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

  test('a waiting message is answered with the app’s instruction of its own turn', async () => {
    const world = instances();
    let turns = 0;
    const chat = world.instance({
      appInstruction: () => Promise.resolve(`Instruction ${++turns}.`),
    });
    const id = randomUUID();
    await sendMessage(chat, request(id, 'one'));
    await world.called(1);
    const second = await sendMessage(chat, queued(id, 'two'));

    world.answerAll();
    await passTime(world.clock, second.result);

    const asked = world.calls.map((call) => call.request.systemInstruction);
    expect(asked).toEqual(['Instruction 1.', 'Instruction 2.']);
    const stored = await readConversation(chat.store, id);
    expect(stored?.value.systemInstruction).toBe('Instruction 2.');
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
});

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

test.each([
  ['is told of with nobody connected', false],
  ['is told of as seen by its sender', true],
])('the end of a waiting message that becomes unanswerable %s', async (_, isAttended) => {
  const told: object[] = [];
  const publish = ({ topic, data }: { topic: string; data: object }) => {
    if (topic === 'events') told.push(data);
    return Promise.resolve();
  };
  const world = instances({
    MODEL_WINDOWS: '{"gemini-3.8-flash":1000}',
    EVENT_WEBHOOK_URL: 'https://hooks.example.com/events',
    HOOK_HOSTS: 'hooks.example.com',
    HOOK_SIGNING_KEY: 'a signing key of thirty-two chars',
  });
  const chat = world.instance({ publisher: { publish } });
  const id = randomUUID();
  const first = await sendMessage(chat, request(id, 'one'));
  const second = await sendMessage(chat, queued(id, 'word '.repeat(948)));
  const connection = new AbortController();
  second.subscribe(connection.signal);
  if (!isAttended) connection.abort();

  world.answerAll();
  await first.result;
  await expect(passTime(world.clock, second.result)).rejects.toBeInstanceOf(AppError);

  expect(told).toContainEqual({
    schemaVersion: 1,
    type: 'turn.finished',
    conversationId: id,
    turnId: 't_2',
    attempt: 1,
    state: 'failed',
    kind: 'message',
    reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
    isAttended,
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

  test('a waiting message over a daily limit gets a retry time and is answered then', async () => {
    const asked = queued(randomUUID(), 'two');
    const { world, chat, handle } = await refusedFor(3_600_000, asked);

    await expect(passTime(world.clock, handle.result)).rejects.toMatchObject({
      reason: 'USER_DAILY_TOKENS',
      retryable: true,
    });
    await expect(sendMessage(chat, asked)).rejects.toMatchObject({ reason: 'USER_DAILY_TOKENS' });
    world.clock.advance(3_600_000);
    const turn = await answered(chat, asked);

    expect(turn).toMatchObject({ seq: 2, attempt: 2, state: 'done' });
  });
});

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

test('messages over a reached daily limit are refused before they are stored', async () => {
  const world = limitedInstances({ USER_DAILY_MESSAGES: '1' });
  const chat = world.limited();
  const [spent, id] = [randomUUID(), randomUUID()];
  world.answerAll();
  await answered(chat, request(spent, 'one'));
  const free = world.instance();
  const running = await sendMessage(free, request(id, 'one'));

  const refused = await outcomeOf(chat, queued(id, 'two'));

  await running.result;
  expect(refused).toMatchObject({ status: 'RESOURCE_EXHAUSTED', reason: 'USER_DAILY_MESSAGES' });
  expect(await statesOf(chat, id)).toEqual(['done']);
});

const quick = () => scriptedStreamer(textAnswer('Quick.')).model;

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

describe('a message that waits behind a turn that asks the app', () => {
  /** A turn whose model is answering and will call a function of the app, and a message that waits behind it. */
  async function waitingBehindCalls() {
    const clock = createManualClock();
    const gate = Promise.withResolvers<void>();
    const locate = { functionCall: { id: 'c0', name: 'locate', args: {} } };
    const calling = {
      chunks: [{ parts: [locate], finishReason: 'STOP', usage }],
      gate: gate.promise,
    };
    const { model, requests } = scriptedStreamer(calling, textAnswer('Fine.'));
    const chat = chatDependencies({ model, clock });
    const id = randomUUID();
    await withAppTools(chat, id, ['locate']);
    const first = await sendMessage(chat, request(id, 'one'));
    const second = await sendMessage(chat, queued(id, 'two'));
    gate.resolve();
    expect((await passTime(clock, first.result)).turn.state).toBe('awaiting_tool');
    return { chat, clock, id, second, requests };
  }

  test('a waiting message lets the app answer first', async () => {
    const { chat, clock, id, second, requests } = await waitingBehindCalls();

    const resumed = await answerCalls(chat, {
      caller: { uid: 'u1', tier: 'signedIn' },
      conversationId: id,
      turnId: 't_1',
      results: [{ callId: 't_1_c0', kind: 'response', response: { lat: 1 } }],
      locale: undefined,
    });

    expect((await passTime(clock, resumed.result)).turn.state).toBe('done');
    expect((await passTime(clock, second.result)).turn.state).toBe('done');
    expect(requests.map(({ contents }) => contents.map(contentText).at(-1))).toEqual([
      'one',
      '',
      'two',
    ]);
  });

  test('a waiting message is answered when the app does not answer', async () => {
    const { chat, clock, id, second } = await waitingBehindCalls();
    const startMs = clock.now().getTime();

    expect((await passTime(clock, second.result)).turn.state).toBe('done');

    const waitedMs = clock.now().getTime() - startMs;
    expect(waitedMs).toBeGreaterThanOrEqual(APP_ANSWERS_FIRST_MS);
    expect(waitedMs).toBeLessThan(APP_ANSWERS_FIRST_MS + 2_000);
    const [first] = await turnsOf(chat, id, 1);
    expect(first).toMatchObject({ state: 'cancelled' });
    expect(JSON.stringify(first?.contents)).toContain('cancelled_by_user');
  });
});
