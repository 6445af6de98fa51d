import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createEventWebhook } from '#functions/adapters/webhooks.ts';
import { parseConfig } from '#functions/config.ts';
import { buildAnswered, endOf, notifyingWorker } from '#test/support/notifying.ts';
import {
  startWebhook,
  type WebhookCall,
  type WebhookReply,
} from '#test/support/processes/webhook-server.ts';

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

/** As docs/guides/hooks.md has it. */
function isGenuine({ headers, body }: WebhookCall, key: string, nowSeconds: number): boolean {
  const timestamp = String(headers['x-recap-timestamp']);
  if (Math.abs(nowSeconds - Number(timestamp)) > 300) return false;
  const expected = createHmac('sha256', key).update(`${timestamp}.${body}`).digest();
  const given = Buffer.from(String(headers['x-recap-signature']).replace('sha256=', ''), 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const compacted = {
  schemaVersion: 1,
  type: 'compaction.swapped',
  conversationId: 'c1',
  requestId: 'r1',
  afterTokens: 900,
};

describe('the operator’s webhook', () => {
  test('the operator’s webhook gets turn and compaction events unchanged, with a delivery id', async () => {
    const { server, deliver } = await toldOperator();

    expect(await deliver(compacted)).toBe(204);
    expect(await deliver(endOf('c1', { isAttended: true }))).toBe(204);

    expect(server.calls.map(({ body }): unknown => JSON.parse(body))).toEqual([
      { ...compacted, id: '77' },
      { ...endOf('c1', { isAttended: true }), id: '77' },
    ]);
  });

  test('the operator’s webhook can verify origin and age of a call', async () => {
    const { server, deliver } = await toldOperator();
    await deliver(compacted);
    const [call] = server.calls;
    if (!call) throw new Error('no call');
    const nowSeconds = Date.parse('2026-01-02T03:04:06Z') / 1_000;

    expect(isGenuine(call, signingKey, nowSeconds)).toBe(true);
    expect(isGenuine(call, 'another key that has nothing to say', nowSeconds)).toBe(false);
    expect(isGenuine({ ...call, body: `${call.body} ` }, signingKey, nowSeconds)).toBe(false);
    expect(isGenuine(call, signingKey, nowSeconds + 3_600)).toBe(false);
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
});

test('an event without recipients is acknowledged', async () => {
  const { bench, messaging, deliver } = await notifyingWorker({ bench: {} });
  const conversationId = await buildAnswered(bench);

  expect(await deliver({ ...compacted, conversationId })).toBe(204);

  expect(messaging.calls()).toBe(0);
  expect(bench.logged).toEqual([]);
});

describe('the configuration of the webhook', () => {
  const environment = {
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    HOOK_HOSTS: 'hooks.example.com',
    HOOK_SIGNING_KEY: signingKey,
  };

  test('the operator’s webhook may have an address of an allowed host', () => {
    const url = 'https://hooks.example.com/events?key=1';

    expect(parseConfig({ ...environment, EVENT_WEBHOOK_URL: url }).EVENT_WEBHOOK_URL).toBe(url);
  });

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
