import { createEventWebhook } from '#functions/adapters/webhooks.ts';
import { parseConfig } from '#functions/config.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { eventually } from '#test/support/eventually.ts';
import { buildAnswered, endOf, notifyingWorker } from './notifying.ts';
import { startWebhook, type WebhookReply } from '#test/support/processes/webhook-server.ts';
import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, test, onTestFinished } from 'vitest';

const signingKey = 'a signing key of thirty-two chars';

/** A worker whose operator is told of events, and the operator's server. */
async function toldOperator(reply: WebhookReply = {}) {
  const server = await startWebhook(reply);
  const clock = { now: () => new Date('2026-01-02T03:04:05.678Z') };
  const hosts = { hosts: [server.host], allowsHttp: true };
  const worker = await notifyingWorker({
    bench: { eventWebhook: createEventWebhook(server.url, { ...hosts, signingKey, clock }) },
  });
  return { ...worker, server };
}

const compacted = {
  schemaVersion: 1,
  type: 'compaction.swapped',
  conversationId: 'c1',
  requestId: 'r1',
  afterTokens: 900,
};

test('the operator’s webhook gets turn and compaction events unchanged, with a delivery id, signed over time and body', async () => {
  const { server, deliver } = await toldOperator();

  expect(await deliver(compacted)).toBe(204);
  expect(await deliver(endOf('c1', { isAttended: true }))).toBe(204);

  expect(server.calls.map(({ body }): unknown => JSON.parse(body))).toEqual([
    { ...compacted, id: '77' },
    { ...endOf('c1', { isAttended: true }), id: '77' },
  ]);
  for (const { headers, body } of server.calls) {
    const timestamp = String(headers['x-recap-timestamp']);
    const mac = createHmac('sha256', signingKey).update(`${timestamp}.${body}`).digest('hex');
    expect(timestamp).toBe(String(Date.parse('2026-01-02T03:04:05Z') / 1_000));
    expect(headers['x-recap-signature']).toBe(`sha256=${mac}`);
  }
});

test.each([
  ['500', { status: 500 }],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }],
])(
  'an operator’s webhook that answers %s gets redeliveries without duplicate notifications',
  async (_, reply) => {
    const { bench, messaging, server, deliver } = await toldOperator(reply);
    const conversationId = await buildAnswered(bench, { tokens: ['phone'] });

    expect(await deliver(endOf(conversationId))).toBe(503);
    expect(await deliver(endOf(conversationId))).toBe(503);

    expect(server.calls).toHaveLength(2);
    expect(messaging.sent()).toHaveLength(1);
    expect(bench.logged).toContainEqual({
      severity: 'WARNING',
      event: 'compaction_push_failed',
      fields: { reason: 'WEBHOOK_FAILED' },
    });
  },
);

describe('the configuration of the webhook', () => {
  const environment = {
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    HOOK_HOSTS: 'hooks.example.com',
    HOOK_SIGNING_KEY: signingKey,
  };

  test.each([
    'https://elsewhere.example.com/',
    'https://me@hooks.example.com/',
    'ftp://hooks.example.com/',
  ])('the operator’s webhook configuration refuses %s', (url) => {
    expect(() => parseConfig({ ...environment, EVENT_WEBHOOK_URL: url })).toThrow(
      /EVENT_WEBHOOK_URL/,
    );
  });
});

/** Time for whoever hangs up at the first byte to have gone before the answer ends. */
const FIRST_TOKEN_MS = 500;

/** Both functions over the embedded store and bus, with notifications to the fake Gemini. */
async function started(options: { duplicates?: number; settings?: Record<string, string> } = {}) {
  const fakeGemini = await startFakeGemini();
  const host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'fake-gemini' },
      fakeGeminiUrl: fakeGemini.url,
      settings: { FCM_PROJECT: localProjectId, FCM_URL: fakeGemini.url, ...options.settings },
    }),
    overrides: { logger: { log: () => undefined } },
    push: {
      minBackoffSeconds: 0.05,
      maxBackoffSeconds: 0.1,
      ...(options.duplicates !== undefined && { duplicates: options.duplicates }),
    },
  });
  onTestFinished(async () => {
    await host.stop();
    await fakeGemini.close();
  });
  const token = unsignedToken({ uid: 'ada', projectId: localProjectId, now: new Date() });
  const call = (path: string, init: { method: string; body?: object; signal?: AbortSignal }) =>
    fetch(`${host.chatUrl}${path}`, {
      method: init.method,
      ...(init.body && { body: JSON.stringify(init.body) }),
      ...(init.signal && { signal: init.signal }),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
    });
  for (const id of ['phone', 'tablet'])
    await call(`/v1/users/me/devices/${id}`, {
      method: 'PUT',
      body: { token: `token-${id}`, platform: 'ios', locale: 'ja' },
    });
  /** Sends, and hangs up at the first byte. */
  const sendAndLeave = async (conversationId: string) => {
    fakeGemini.setTiming({ timeToFirstTokenMs: FIRST_TOKEN_MS });
    const leaving = new AbortController();
    await call(`/v1/conversations/${conversationId}/messages`, {
      method: 'POST',
      body: {
        message: { id: randomUUID(), parts: [{ type: 'text', text: 'Tell me about harbours.' }] },
      },
      signal: leaving.signal,
    });
    leaving.abort();
  };
  return { fakeGemini, host, sendAndLeave };
}

test('a user who hung up is notified once a device, in its language, despite duplicates', async () => {
  const { fakeGemini, host, sendAndLeave } = await started({ duplicates: 1 });
  const conversationId = randomUUID();

  await sendAndLeave(conversationId);
  await eventually('both notifications', async () =>
    fakeGemini.messaging.sent().length >= 2 ? true : undefined,
  );
  await host.bus.idle();

  const sent = fakeGemini.messaging.sent();
  expect(sent.map(({ token }) => token).toSorted()).toEqual(['token-phone', 'token-tablet']);
  expect(sent[0]).toMatchObject({
    notification: { body: '回答ができました。' },
    data: { conversationId, turnId: 't_1', state: 'done' },
  });
  expect(host.bus.deadLetters()).toEqual([]);
});

test('a webhook that always fails is dead-lettered, and the devices are notified', async () => {
  const server = await startWebhook({ status: 500 });
  const { fakeGemini, host, sendAndLeave } = await started({
    settings: {
      EVENT_WEBHOOK_URL: server.url,
      HOOK_HOSTS: server.host,
      HOOK_SIGNING_KEY: 'a signing key of thirty-two chars',
    },
  });

  await sendAndLeave(randomUUID());
  await eventually('a dead letter', async () =>
    host.bus.deadLetters().length > 0 ? true : undefined,
  );

  const [letter] = host.bus.deadLetters();
  expect(letter).toMatchObject({
    subscription: 'projects/demo-recap/subscriptions/recap-events',
    deliveryAttempts: 8,
  });
  expect(server.calls).toHaveLength(8);
  expect(fakeGemini.messaging.sent()).toHaveLength(2);
});
