import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { eventually } from '#test/support/eventually.ts';
import { startWebhook } from '#test/support/processes/webhook-server.ts';

/** Time for whoever hangs up at the first byte to have gone before the answer ends. */
const FIRST_TOKEN_MS = 500;

/** Both functions over the embedded store and bus, with notifications to the fake Gemini. */
async function started(options: { duplicates?: number; settings?: Record<string, string> } = {}) {
  const fakeGemini = await startFakeGemini();
  const host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'stand-in' },
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
  const send = (conversationId: string, signal?: AbortSignal) =>
    call(`/v1/conversations/${conversationId}/messages`, {
      method: 'POST',
      body: {
        message: { id: randomUUID(), parts: [{ type: 'text', text: 'Tell me about harbours.' }] },
      },
      ...(signal && { signal }),
    });
  /** Sends, and hangs up at the first byte. */
  const sendAndLeave = async (conversationId: string, timeToFirstTokenMs = FIRST_TOKEN_MS) => {
    fakeGemini.setTiming({ timeToFirstTokenMs });
    const leaving = new AbortController();
    await send(conversationId, leaving.signal);
    leaving.abort();
  };
  return { fakeGemini, host, send, sendAndLeave, call };
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

test('a user who reads to the end is not notified', async () => {
  const { fakeGemini, host, send } = await started();

  await (await send(randomUUID())).text();
  await host.bus.idle();

  expect(fakeGemini.messaging.calls()).toBe(0);
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
