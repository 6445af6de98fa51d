import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { toDay } from '#shared/quota/usage.ts';
import { usageResponse } from '#shared/wire/resources/usage.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { heldStreamer, scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { errorOf } from '#test/support/chat/chat-server.ts';
import { startLimitedServer, usageOf } from '#test/support/chat/quotas.ts';
import { eventually } from '../support/eventually.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';

const usage = { promptTokens: 300, cachedTokens: 0, outputTokens: 50, thoughtsTokens: 0 };
const TURN_MICROS = 350;
const SSE = { accept: 'text/event-stream' };

async function serverWith(
  environment: Record<string, string>,
  overrides: Partial<ChatDependencies> = {},
) {
  const { model } = scriptedStreamer(textAnswer('Fine.', usage));
  const server = await startLimitedServer(environment, { model, ...overrides });
  onTestFinished(() => server.stop());
  return server;
}

type Server = Awaited<ReturnType<typeof serverWith>>;

const send = (server: Server, options: Parameters<Server['call']>[1] = {}, id = randomUUID()) =>
  server.call(`/v1/conversations/${id}/messages`, {
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] } },
    ...options,
  });

test('S4: a user who exhausts their limit is refused with a retry time, hindering nobody', async () => {
  const capMicros = 10_000;
  const server = await serverWith({ USER_DAILY_USD: String(capMicros / 1_000_000) });
  let turns = 0;
  let refused = await send(server);
  for (; turns < 60 && refused.status === 200; turns++) refused = await send(server);

  const error = await errorOf(refused);
  expect(error).toMatchObject({ http: 429, reason: 'USER_DAILY_USD' });
  expect(error.metadata).toMatchObject({ limit: String(capMicros) });
  const waitMs = Number(refused.headers.get('retry-after')) * 1_000;
  expect(Date.now() + waitMs).toBeGreaterThanOrEqual(Date.parse(error.metadata.resetTime) - 1_000);
  const day = toDay(new Date());
  const { costMicros } = await usageOf(server.dependencies.store, { uid: 'alice', day });
  expect(costMicros).toBe(turns * TURN_MICROS);
  expect(costMicros).toBeGreaterThan(capMicros - TURN_MICROS);
  expect(costMicros).toBeLessThanOrEqual(capMicros + TURN_MICROS);
  expect((await send(server, { uid: 'bob' })).status).toBe(200);
});

test.each([
  ['USER_DAILY_MESSAGES', ['USER_DAILY_MESSAGES', '1'], ['messagesPerDay', '43200', 'true']],
  ['USER_DAILY_TOKENS', ['USER_DAILY_TOKENS', '800'], ['tokensPerDay', '43200', 'true']],
  ['USER_RPM', ['USER_REQUESTS_PER_MINUTE', '1'], ['requestsPerMinute', '60', undefined]],
] as const)(
  'a quota refusal for %s says what is used and when to retry',
  async (reason, [variable, value], [quota, after, final]) => {
    const clock = createManualClock(new Date('2026-01-02T12:00:00.000Z'));
    const caller = { uid: 'alice', tier: 'signedIn', signedInAt: clock.now() } as const;
    const idTokens = { verify: () => Promise.resolve(caller) };
    const limited = await serverWith({ [variable]: value }, { clock, idTokens });
    expect((await send(limited)).status).toBe(200);

    const refused = await send(limited);

    expect(refused.headers.get('retry-after')).toBe(after);
    expect(refused.headers.get('x-should-retry')).toBe(final === 'true' ? 'false' : null);
    const error = await errorOf(refused);
    expect(error).toMatchObject({ http: 429, status: 'RESOURCE_EXHAUSTED', reason });
    expect(error.metadata).toMatchObject({
      quota,
      limit: expect.stringMatching(/^\d+$/),
      used: expect.stringMatching(/^\d+$/),
      resetTime: expect.stringMatching(/^2026-01-0[23]T/),
    });
    expect(error.metadata.final).toBe(final);
    expect(error.text).toContain(`"retryDelay":"${after}s"`);
  },
);

test('a requested compaction is refused too when no quota is left', async () => {
  const server = await serverWith({ USER_DAILY_USD: '0.0006' });
  const id = randomUUID();
  await send(server, {}, id);
  await server.dependencies.store.commit([
    {
      op: 'update',
      path: `quotas/alice/usage/${toDay(new Date())}`,
      fields: { costMicros: 600 },
      guard: { exists: true },
    },
  ]);

  const asked = await server.call(`/v1/conversations/${id}:compact`, { body: {} });

  expect(await errorOf(asked)).toMatchObject({ http: 429, reason: 'USER_DAILY_USD' });
});

test('S7: a user has a limited number of open streams, and another when one closes', async () => {
  const { model, answerAll } = heldStreamer();
  const server = await serverWith({ STREAMS_PER_USER: '3' }, { model });
  const id = randomUUID();
  const leave = new AbortController();
  const first = await send(server, { headers: SSE }, id);
  const stream = (signal?: AbortSignal) =>
    server.call(`/v1/conversations/${id}/stream`, { headers: SSE, ...(signal && { signal }) });
  const leaving = await stream(leave.signal);

  const others = await Promise.all(Array.from({ length: 50 }, () => stream()));

  expect([first.status, leaving.status]).toEqual([200, 200]);
  expect(others.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(others.filter(({ status }) => status === 429)).toHaveLength(49);
  leave.abort();
  await eventually('a free place', async () => {
    const again = await stream();
    if (again.status === 200) return again;
    expect(await errorOf(again)).toMatchObject({ reason: 'USER_STREAMS' });
    return undefined;
  });
  answerAll();
});

test('S7: a stream over the limit is refused before its turn begins, and takes nothing of another user’s', async () => {
  const { model, answerAll } = heldStreamer();
  const server = await serverWith({ STREAMS_PER_USER: '1' }, { model });
  expect((await send(server, { headers: SSE })).status).toBe(200);
  const other = randomUUID();

  expect((await send(server, { headers: SSE }, other)).status).toBe(429);

  expect((await server.call(`/v1/conversations/${other}`)).status).toBe(404);
  expect((await send(server, { headers: SSE, uid: 'bob' })).status).toBe(200);
  answerAll();
});

describe('one who calls without end', () => {
  const list = (server: Server, uid = 'alice') => server.call('/v1/conversations', { uid });

  test('a user’s parallel calls are limited, hinder nobody, and are freed at their end', async () => {
    const { model, calls, answerAll } = heldStreamer();
    const server = await serverWith({ USER_CALLS_AT_ONCE: '5' }, { model });
    const answers = Array.from({ length: 5 }, () => send(server));
    await eventually('five calls', () => Promise.resolve(calls.length === 5 || undefined));

    const refused = await list(server);

    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await errorOf(refused)).toMatchObject({
      http: 429,
      reason: 'USER_CALLS',
      metadata: { quota: 'callsAtOnce', limit: '5' },
    });
    expect((await list(server, 'bob')).status).toBe(200);
    answerAll();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    expect((await list(server)).status).toBe(200);
  });

  test('an export counts as a call until its last line is sent', async () => {
    const server = await serverWith({ USER_CALLS_AT_ONCE: '1' });
    const id = randomUUID();
    await send(server, {}, id);

    for (let i = 0; i < 5; i++) {
      const read = await server.call(`/v1/conversations/${id}:export?format=jsonl`);
      expect(read.status).toBe(200);
      await read.text();
    }
  });
});

test('the usage resource shows each limit, used, reserved, left, and its reset', async () => {
  const { model, answerAll } = heldStreamer();
  const server = await serverWith(
    { USER_DAILY_MESSAGES: '5', USER_DAILY_TOKENS: '9000', STREAMS_PER_USER: '3' },
    { model },
  );
  const show = async () =>
    usageResponse.parse(await (await server.call('/v1/users/me/usage')).json());
  const running = await send(server, { headers: SSE });

  const shown = await show();
  answerAll();
  await running.text();
  const after = await show();

  const { messagesPerDay, tokensPerDay, costMicrosPerDay, streams } = shown.limits;
  expect(shown).toMatchObject({ day: toDay(new Date()), tier: 'signedIn' });
  expect(messagesPerDay).toMatchObject({ limit: 5, used: 0, reserved: 1, left: 4 });
  expect(tokensPerDay.reserved).toBeGreaterThan(500);
  expect(tokensPerDay.left).toBe(9_000 - tokensPerDay.reserved);
  expect(costMicrosPerDay).toMatchObject({ limit: null, left: null });
  expect(streams).toMatchObject({ limit: 3, used: 1, left: 2 });
  expect(after.limits.messagesPerDay).toMatchObject({ used: 1, reserved: 0, left: 4 });
});
