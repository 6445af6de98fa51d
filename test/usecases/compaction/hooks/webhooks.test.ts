import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createWebhookHooks } from '#functions/adapters/webhooks/webhook-hook.ts';
import { createRemotePolicy, REMOTE_POLICY_PATH } from '#functions/config/remote-policy.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
  THRESHOLD_TOKENS,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { startWebhook } from '#test/support/processes/webhook-server.ts';

const signingKey = 'a signing key of thirty-two chars';

/** A worker that may call these hosts. */
function benchCalling(hosts: readonly string[], base = compactionBench()): CompactionBench {
  const webhooks = (given: readonly Webhook[]) =>
    createWebhookHooks(given, { hosts, allowsHttp: true, signingKey, clock: base.clock });
  return { ...base, webhooks };
}

/** A conversation that is due, after `config/compaction` has named these webhooks. */
async function buildWith(bench: CompactionBench, hooks: Webhook[]) {
  const fields = { hooks: hooks.map((hook) => ({ ...hook })) };
  await bench.store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields }]);
  bench.config = { ...bench.config, remotePolicy: createRemotePolicy(bench) };
  await bench.config.remotePolicy?.refresh();
  return buildDue(bench, {
    conversation: {
      settings: { thresholdTokens: THRESHOLD_TOKENS },
      compactionRequests: autoRequest(),
    },
  });
}

const both: Webhook['events'] = ['preCompact', 'postCompact'];

describe('a webhook of the remote document', () => {
  test('a webhook is called before and after, without message text', async () => {
    const server = await startWebhook();
    const bench = benchCalling([server.host]);
    const id = await buildWith(bench, [{ url: server.url, events: both }]);

    await compactOnce(bench, id);

    const bodies = server.calls.map(({ body }): unknown => JSON.parse(body));
    expect(bodies).toMatchObject([
      { schemaVersion: 1, type: 'preCompact', conversationId: id, trigger: 'auto', from: 1 },
      { schemaVersion: 1, type: 'postCompact', conversationId: id, state: 'COMPACTED' },
    ]);
    expect(JSON.stringify(bodies)).not.toMatch(/Question|Answer/);
  });

  test('a webhook gets every call signed over time and body', async () => {
    const server = await startWebhook();
    const bench = benchCalling([server.host]);
    const id = await buildWith(bench, [{ url: server.url, events: ['preCompact'] }]);

    await compactOnce(bench, id);

    const [call] = server.calls;
    const timestamp = String(bench.clock.now().getTime() / 1_000).split('.')[0] ?? '';
    const mac = createHmac('sha256', signingKey).update(`${timestamp}.${call?.body}`).digest('hex');
    expect(call?.headers).toMatchObject({
      'x-recap-timestamp': timestamp,
      'x-recap-signature': `sha256=${mac}`,
    });
  });

  test('a webhook may veto', async () => {
    const server = await startWebhook({ body: JSON.stringify({ veto: true }) });
    const bench = benchCalling([server.host]);
    const id = await buildWith(bench, [{ url: server.url, events: ['preCompact'] }]);

    expect(await compactOnce(bench, id)).toMatchObject({ state: 'NOOP', reason: 'VETOED' });
  });

  test('a webhook may pin a text', async () => {
    const pins = [{ id: 'order', text: 'The order is number 4711.' }];
    const server = await startWebhook({ body: JSON.stringify({ pins, later: 'ignored' }) });
    const bench = benchCalling([server.host]);
    const id = await buildWith(bench, [{ url: server.url, events: ['preCompact'] }]);

    await compactOnce(bench, id);

    expect((await see(bench.store, id)).conversation.pins).toEqual([
      { ...pins[0], source: 'hook' },
    ]);
  });

  test('a webhook may advise the summariser and read the folded turns', async () => {
    const server = await startWebhook({ body: JSON.stringify({ note: 'Gold member.' }) });
    const bench = benchCalling([server.host]);
    const id = await buildWith(bench, [{ url: server.url, events: ['preCompact'] }]);

    await compactOnce(bench, id);

    expect(JSON.parse(server.calls[0]?.body ?? '')).toMatchObject({
      foldedTurns: {
        path: `/v1/conversations/${id}/foldedTurns`,
        token: expect.stringMatching(/^[\w-]+$/),
      },
    });
    expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('Gold member.');
  });

  test.each([
    ['answers an error', { status: 500 }, 'answered 500'],
    ['answers no JSON', { body: 'ok' }, 'answered no JSON'],
    [
      'answers what is no answer',
      { body: JSON.stringify({ veto: 'yes' }) },
      'answered what is no answer',
    ],
    ['answers too much', { body: `"${'x'.repeat(64 * 1024)}"` }, 'answered too much or broke off'],
  ])(
    'a webhook that %s is logged with the cause and does not stop the compaction',
    async (_, reply, problem) => {
      const server = await startWebhook(reply);
      const bench = benchCalling([server.host]);
      const id = await buildWith(bench, [{ url: server.url, events: ['preCompact'] }]);

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

  test('a required webhook of a conversation that fails stops the compaction', async () => {
    const server = await startWebhook({ status: 503 });
    const bench = benchCalling([server.host]);
    const hook: Webhook = { url: server.url, events: ['preCompact'], required: true };
    const id = await buildWith(bench, [hook]);

    expect(await compactOnce(bench, id)).toMatchObject({ kind: 'retry', reason: 'HOOK_FAILED' });
    expect(bench.model.calls).toHaveLength(0);
  });

  test('a webhook is not followed through a redirect', async () => {
    const target = await startWebhook();
    const server = await startWebhook({ status: 307, headers: { location: target.url } });
    const bench = benchCalling([server.host, target.host]);
    const id = await buildWith(bench, [{ url: server.url, events: ['preCompact'] }]);

    await compactOnce(bench, id);

    expect([server.calls.length, target.calls.length]).toEqual([1, 0]);
  });

  test('a webhook whose host is no longer allowed is not called', async () => {
    const server = await startWebhook();
    const bench = benchCalling(['hooks.example.com']);
    const id = await buildWith(bench, [{ url: server.url, events: both }]);

    expect(await compactOnce(bench, id)).toMatchObject({ state: 'COMPACTED' });
    expect(server.calls).toEqual([]);
  });

  test('a webhook that hangs is abandoned after ten seconds', async () => {
    const server = await startWebhook({ hangs: true });
    const bench = benchCalling([server.host]);
    const id = await buildWith(bench, [{ url: server.url, events: ['preCompact'] }]);

    const running = compactOnce(bench, id);
    await server.called;
    bench.clock.advance(10_000);

    expect(await running).toMatchObject({ state: 'COMPACTED' });
  });
});

describe('hooks of several levels', () => {
  test('the remote document’s webhooks run after the deployment’s hooks', async () => {
    const order: string[] = [];
    const named = (name: string) => ({
      name,
      run: () => {
        order.push(name);
        return Promise.resolve(undefined);
      },
    });
    const bench: CompactionBench = {
      ...compactionBench(),
      hooks: { preCompact: [named('deployment')], postCompact: [] },
      webhooks: (given) => ({ preCompact: given.map(({ url }) => named(url)), postCompact: [] }),
    };
    const url = 'https://remote.example.com/';
    const id = await buildWith(bench, [{ url, events: ['preCompact'] }]);

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
    expect(bench.logged).toMatchObject([
      { event: 'remote_policy_unusable', fields: { fields: 'hooks' } },
    ]);
  });
});
