import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createWebhookHooks } from '#functions/adapters/webhooks.ts';
import { REMOTE_POLICY_PATH, createRemotePolicy } from '#functions/config/remote-documents.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import {
  buildDue,
  compactOnce,
  see,
  type CompactionBench,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { type WebhookReply, startWebhook } from '#test/support/processes/webhook-server.ts';

const signingKey = 'a signing key of thirty-two chars';

/** A conversation that is due, of a worker that may call these hosts, after `config/compaction` has named webhooks. */
async function withWebhooks(
  hooks: readonly Webhook[],
  hosts: readonly string[],
  overrides: Partial<CompactionBench> = {},
) {
  const base = compactionBench();
  const webhooks = (given: readonly Webhook[]) =>
    createWebhookHooks(given, { hosts, allowsHttp: true, signingKey, clock: base.clock });
  const bench = { ...base, webhooks, ...overrides };
  const fields = { hooks: hooks.map((hook) => ({ ...hook })) };
  await bench.store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields }]);
  const remotePolicy = createRemotePolicy(bench);
  await remotePolicy.refresh();
  bench.config = { ...bench.config, remotePolicy };
  return { bench, id: await buildDue(bench) };
}

/** The same with a server that answers so to a PreCompact event. */
async function answeredWith(reply: WebhookReply = {}, required?: true) {
  const server = await startWebhook(reply);
  const events: Webhook['events'] = ['preCompact'];
  const hook = { url: server.url, events, ...(required && { required }) };
  return { server, ...(await withWebhooks([hook], [server.host])) };
}

const replyOf = (answer: object): WebhookReply => ({ body: JSON.stringify(answer) });

describe('a webhook of the remote document', () => {
  test('a webhook is called before and after, signed over time and body, without message text', async () => {
    const server = await startWebhook();
    const hook: Webhook = { url: server.url, events: ['preCompact', 'postCompact'] };
    const { bench, id } = await withWebhooks([hook], [server.host]);

    await compactOnce(bench, id);

    const bodies = server.calls.map(({ body }): unknown => JSON.parse(body));
    const path = `/v1/conversations/${id}/foldedTurns`;
    expect(bodies).toMatchObject([
      { schemaVersion: 1, type: 'preCompact', conversationId: id, foldedTurns: { path } },
      { schemaVersion: 1, type: 'postCompact', conversationId: id, state: 'COMPACTED' },
    ]);
    expect(JSON.stringify(bodies)).not.toMatch(/Question|Answer/);
    const timestamp = String(Math.floor(bench.clock.now().getTime() / 1_000));
    for (const { headers, body } of server.calls) {
      const mac = createHmac('sha256', signingKey).update(`${timestamp}.${body}`).digest('hex');
      expect(headers).toMatchObject({
        'x-recap-timestamp': timestamp,
        'x-recap-signature': `sha256=${mac}`,
      });
    }
  });

  test('a webhook may veto', async () => {
    const { bench, id } = await answeredWith(replyOf({ veto: true }));

    expect(await compactOnce(bench, id)).toMatchObject({ state: 'NOOP', reason: 'VETOED' });
  });

  test('a webhook may pin a text and advise the summariser', async () => {
    const pins = [{ id: 'order', text: 'The order is number 4711.' }];
    const { bench, id } = await answeredWith(replyOf({ pins, note: 'Gold member.', later: 1 }));

    await compactOnce(bench, id);

    const { conversation } = await see(bench.store, id);
    expect(conversation.pins).toEqual([{ ...pins[0], source: 'hook' }]);
    expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('Gold member.');
  });

  test.each([
    ['answers an error', { status: 500 }, 'answered 500'],
    ['answers no JSON', { body: 'ok' }, 'answered no JSON'],
    ['answers what is no answer', replyOf({ veto: 'yes' }), 'answered what is no answer'],
    ['answers too much', { body: `"${'x'.repeat(64 * 1024)}"` }, 'answered too much or broke off'],
  ])(
    'a webhook that %s is logged with the cause and does not stop the compaction',
    async (...row) => {
      const [, reply, problem] = row;
      const { server, bench, id } = await answeredWith(reply);

      expect(await compactOnce(bench, id)).toMatchObject({ state: 'COMPACTED' });
      expect(bench.logged).toContainEqual({
        severity: 'WARNING',
        event: 'compaction_hook_failed',
        fields: {
          conversationId: id,
          hook: `webhook ${server.host}`,
          reason: 'WEBHOOK_FAILED',
          problem: `webhook ${server.host} ${problem}`,
        },
      });
    },
  );

  test('a required webhook that fails stops the compaction', async () => {
    const { bench, id } = await answeredWith({ status: 503 }, true);

    expect(await compactOnce(bench, id)).toMatchObject({ kind: 'retry', reason: 'HOOK_FAILED' });
    expect(bench.model.calls).toHaveLength(0);
  });

  test('a webhook that hangs is abandoned after ten seconds', async () => {
    const { server, bench, id } = await answeredWith({ hangs: true });

    const running = compactOnce(bench, id);
    await server.called;
    bench.clock.advance(10_000);

    expect(await running).toMatchObject({ state: 'COMPACTED' });
  });

  test('a webhook is not followed through a redirect, nor called on a host that is not allowed', async () => {
    const target = await startWebhook();
    const server = await startWebhook({ status: 307, headers: { location: target.url } });
    const elsewhere = await startWebhook();
    const hooks = [server, elsewhere].map(({ url }): Webhook => ({ url, events: ['preCompact'] }));
    const { bench, id } = await withWebhooks(hooks, [server.host, target.host]);

    expect(await compactOnce(bench, id)).toMatchObject({ state: 'COMPACTED' });

    const calls = [server, target, elsewhere].map((each) => each.calls.length);
    expect(calls).toEqual([1, 0, 0]);
  });
});

test('the remote document’s webhooks run after the deployment’s hooks', async () => {
  const order: string[] = [];
  const named = (name: string) => ({
    name,
    run: () => {
      order.push(name);
      return Promise.resolve(undefined);
    },
  });
  const url = 'https://remote.example.com/';
  const { bench, id } = await withWebhooks([{ url, events: ['preCompact'] }], [], {
    hooks: { preCompact: [named('deployment')], postCompact: [] },
    webhooks: (given) => ({ preCompact: given.map((hook) => named(hook.url)), postCompact: [] }),
  });

  await compactOnce(bench, id);

  expect(order).toEqual(['deployment', url]);
});

test('an invalid hook of a remote document causes a warning and none to run', async () => {
  const bench = compactionBench();
  const remotePolicy = createRemotePolicy(bench);
  const fields = { hooks: [{ url: 'gopher://x' }], thresholdTokens: 9_000 };
  await bench.store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields }]);

  await remotePolicy.refresh();

  expect(remotePolicy.hooks()).toEqual([]);
  expect(remotePolicy.current()).toEqual({ thresholdTokens: 9_000 });
  const warning = { event: 'remote_policy_unusable', fields: { fields: 'hooks' } };
  expect(bench.logged).toMatchObject([warning]);
});
