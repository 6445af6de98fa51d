import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { REMOTE_POLICY_PATH, createRemotePolicy } from '#functions/config/remote-documents.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { calling, hookedChat } from '#test/support/chat/before-turn.ts';
import { request } from '#test/support/chat/sending.ts';
import { type WebhookReply, startWebhook } from '#test/support/processes/webhook-server.ts';

/** A document `config/compaction` that names webhooks, as last read. */
async function policyWith(hooks: Webhook[]) {
  const { store, clock, logger } = hookedChat().dependencies;
  const remotePolicy = createRemotePolicy({ store, clock, logger });
  await store.commit([
    {
      op: 'create',
      path: REMOTE_POLICY_PATH,
      fields: { hooks: hooks.map((hook) => ({ ...hook })) },
    },
  ]);
  await remotePolicy.refresh();
  return remotePolicy;
}

describe('a webhook before a turn', () => {
  async function withWebhook(reply: WebhookReply, required = false) {
    const server = await startWebhook(reply);
    const clock = createManualClock();
    const remotePolicy = await policyWith([{ url: server.url, events: ['beforeTurn'], required }]);
    const { config } = hookedChat().dependencies;
    const made = hookedChat({
      ...calling([server.host], clock),
      config: { ...config, remotePolicy },
    });
    const id = randomUUID();
    return { ...made, clock, server, id };
  }

  test('a webhook before a turn gets a signed event and adds a context', async () => {
    const body = JSON.stringify({ addContext: 'Gold member', later: 'ignored' });
    const { send, said, server, id } = await withWebhook({ body });

    await send(request(id, 'Hello'));

    const [call] = server.calls;
    expect(JSON.parse(call?.body ?? '')).toMatchObject({
      schemaVersion: 1,
      type: 'beforeTurn',
      conversationId: id,
      turnId: 't_1',
    });
    expect(call?.body).not.toMatch(/Hello|"u1"/);
    expect(call?.headers['x-recap-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
    expect(said()).toEqual([expect.stringContaining('| Gold member'), 'Hello']);
  });

  test('a webhook before a turn may refuse', async () => {
    const body = JSON.stringify({ deny: { message: 'Your trial has ended.' } });
    const { send, id } = await withWebhook({ body });

    await expect(send(request(id, 'Hello'))).rejects.toMatchObject({ reason: 'TURN_DENIED' });
  });

  test.each<[string, WebhookReply]>([
    ['answers nothing', {}],
    ['answers an error', { status: 500 }],
    ['answers no JSON', { body: 'ok' }],
    ['answers too much', { body: JSON.stringify({ addContext: 'x'.repeat(8_193) }) }],
  ])('a webhook before a turn that %s does not stop the message', async (_, reply) => {
    const { send, said, id } = await withWebhook(reply);

    await send(request(id, 'Hello'));

    expect(said()).toEqual(['Hello']);
  });

  test('a webhook before a turn that hangs is abandoned after two seconds', async () => {
    const { send, said, clock, server, id } = await withWebhook({ hangs: true });

    const sending = send(request(id, 'Hello'));
    await server.called;
    clock.advance(2_000);
    await sending;

    expect(said()).toEqual(['Hello']);
  });

  test('a required webhook before a turn that fails refuses the message', async () => {
    const { send, id } = await withWebhook({ status: 503 }, true);

    await expect(send(request(id, 'Hello'))).rejects.toMatchObject({ reason: 'HOOK_FAILED' });
  });
});
