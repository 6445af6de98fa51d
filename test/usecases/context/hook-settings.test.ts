import { afterAll, describe, expect, test } from 'vitest';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { createConversation, readAs } from '#test/support/chat/http-answers.ts';
import { createRemotePolicy, REMOTE_POLICY_PATH } from '#functions/config/remote-policy.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { request } from '#test/support/chat/sending.ts';
import { startWebhook, type WebhookReply } from '#test/support/processes/webhook-server.ts';
import { calling, conversationWith, hookOf, hookedChat } from '#test/support/chat/before-turn.ts';

const HOOK = { url: 'https://hooks.example.com/compactions', events: ['preCompact'] };
const environment = {
  HOOK_HOSTS: 'hooks.example.com',
  HOOK_SIGNING_KEY: 'a signing key of thirty-two chars',
};

const open = await startChatServer({ environment: { ...environment, CLIENT_WRITABLE: 'hooks' } });
const closed = await startChatServer({ environment });
afterAll(() => Promise.all([open.stop(), closed.stop()]));

async function patch(chat: ChatServer, hooks: unknown) {
  const { id } = await createConversation(chat);
  return chat.call(`/v1/conversations/${id}`, { method: 'PATCH', body: { settings: { hooks } } });
}

describe('webhooks as a setting of a conversation', () => {
  test('webhooks in a conversation’s settings are stored where the deployment allows them', async () => {
    const response = await patch(open, [HOOK]);

    expect(response.status).toBe(200);
    expect((await readAs(conversationResponse, response)).settings).toEqual({ hooks: [HOOK] });
  });

  test('webhooks in a conversation’s settings are refused where the deployment forbids them', async () => {
    const response = await patch(closed, [HOOK]);

    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ reason: 'FIELD_NOT_WRITABLE' });
  });

  test.each([
    'https://evil.example.com/',
    'http://hooks.example.com/',
    'https://hooks.example.com@evil.example.com/',
  ])('the webhook setting %s is refused: it would never be called', async (url) => {
    const response = await patch(open, [{ ...HOOK, url }]);

    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ reason: 'HOOK_NOT_ALLOWED' });
  });
});

describe('a webhook before a turn', () => {
  async function withWebhook(reply: WebhookReply, required = false) {
    const server = await startWebhook(reply);
    const clock = createManualClock();
    const made = hookedChat(calling([server.host], clock));
    const hooks: Webhook[] = [{ url: server.url, events: ['beforeTurn'], required }];
    const id = await conversationWith(made.dependencies, hooks);
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

  test('a conversation’s webhook context follows the deployment’s and the remote document’s', async () => {
    const remote = await startWebhook({ body: JSON.stringify({ addContext: 'remote' }) });
    const own = await startWebhook({ body: JSON.stringify({ addContext: 'own' }) });
    const base = hookedChat();
    const { store, clock, logger } = base.dependencies;
    const remotePolicy = createRemotePolicy({ store, clock, logger });
    const hooks = [{ url: remote.url, events: ['beforeTurn'] }];
    await store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields: { hooks } }]);
    await remotePolicy.refresh();
    const { send, said } = hookedChat({
      ...calling([remote.host, own.host]),
      store,
      config: { ...base.dependencies.config, remotePolicy },
      beforeTurnHooks: [hookOf({ addContext: 'deployment' }).hook],
    });
    const id = await conversationWith(base.dependencies, [
      { url: own.url, events: ['beforeTurn'] },
    ]);

    await send(request(id, 'Hello'));

    expect(said()?.[0]).toMatch(/\| deployment\n.*\n\| remote\n.*\n\| own$/);
  });
});
