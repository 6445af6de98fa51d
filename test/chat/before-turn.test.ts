import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createBeforeTurnWebhooks } from '../../functions/src/adapters/webhook-hook.ts';
import type { ChatDependencies } from '../../functions/src/chat/chat-dependencies.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import type { SendRequest } from '../../functions/src/chat/send/send-request.ts';
import { createRemotePolicy, REMOTE_POLICY_PATH } from '../../functions/src/remote-policy.ts';
import { newHead } from '../../shared/conversation/new-head.ts';
import { headPath } from '../../shared/conversation/paths.ts';
import { readHead } from '../../shared/conversation/read-conversation.ts';
import type { BeforeTurnAnswer, BeforeTurnHook } from '../../shared/hooks/before-turn.ts';
import type { Webhook } from '../../shared/hooks/webhook.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { regenerate } from '../support/replacing.ts';
import { request } from '../support/sending.ts';
import { instances, queued, turnsOf } from '../support/starts.ts';
import { startWebhook, type WebhookReply } from '../support/webhook-server.ts';

const signingKey = 'a signing key of thirty-two chars';

interface Logged {
  severity: string;
  event: string;
  fields: object;
}

function world(
  overrides: Partial<ChatDependencies> = {},
  environment: Record<string, string> = {},
) {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const logged: Logged[] = [];
  const dependencies = chatDependencies(
    {
      model,
      logger: { log: (severity, event, fields) => logged.push({ severity, event, fields }) },
      ...overrides,
    },
    environment,
  );
  return {
    dependencies,
    logged,
    requests,
    /** What the last prompt says last. */
    said: () =>
      requests
        .at(-1)
        ?.contents.at(-1)
        ?.parts.map(({ text }) => text),
    send: async (asked: SendRequest) => (await sendMessage(dependencies, asked)).result,
  };
}

/** A hook that answers so, and the events that it got. */
function hookOf(answer: BeforeTurnAnswer | undefined, name = 'crm') {
  const events: unknown[] = [];
  const hook: BeforeTurnHook = {
    name,
    run: (event) => {
      events.push(event);
      return Promise.resolve(answer);
    },
  };
  return { hook, events };
}

const calling = (hosts: string[], clock = createManualClock()) => ({
  clock,
  beforeTurnWebhooks: (given: readonly Webhook[]) =>
    createBeforeTurnWebhooks(given, { hosts, allowsHttp: true, signingKey, clock }),
});

/** A conversation with a webhook of its own. */
async function conversationWith({ store, clock }: ChatDependencies, hooks: Webhook[]) {
  const conversationId = randomUUID();
  const head = newHead({
    epoch: 'e',
    ownerUid: 'u1',
    model: 'gemini-3.5-flash',
    profile: 'assistant',
    systemInstruction: undefined,
    now: clock.now(),
  });
  const fields = { ...head, settings: { hooks } };
  await store.commit([{ op: 'create', path: headPath(conversationId), fields }]);
  return conversationId;
}

const LABEL = 'Added by the service for this message.';

describe('a hook before a turn', () => {
  test('learns which message it is, and no word of it', async () => {
    const { hook, events } = hookOf(undefined);
    const { send } = world({ beforeTurnHooks: [hook] });
    const asked = request(randomUUID(), 'Hello');

    await send(asked);

    expect(events).toEqual([
      {
        conversationId: asked.conversationId,
        turnId: 't_1',
        messageId: asked.message.id,
        uidHash: createHash('sha256').update('u1').digest('hex'),
      },
    ]);
  });

  test('learns the text where the operator says so', async () => {
    const { hook, events } = hookOf(undefined);
    const { send } = world({ beforeTurnHooks: [hook] }, { BEFORE_TURN_TEXT: 'on' });

    await send(request(randomUUID(), 'Hello'));

    expect(events).toMatchObject([{ text: 'Hello' }]);
  });

  test('adds what stands behind the context of the app and stays with the turn', async () => {
    const { hook } = hookOf({ addContext: 'Gold member' });
    const { send, said, requests } = world({ beforeTurnHooks: [hook] });
    const asked = request(randomUUID(), 'Hello');

    await send({ ...asked, clientContext: { screen: 'shop' } });
    const first = said();
    await send(request(asked.conversationId, 'More'));

    expect(first).toEqual([
      expect.stringMatching(/- screen: "shop"\nAdded by .*\n\| Gold/),
      'Hello',
    ]);
    expect(said()).toEqual([expect.stringContaining('| Gold member'), 'More']);
    expect(requests[1]?.contents[0]).toEqual(requests[0]?.contents[0]);
  });

  test('refuses with its own words, and nothing is stored or asked', async () => {
    const { hook } = hookOf({ deny: { message: 'Your trial has ended.' } });
    const { send, dependencies, requests } = world({ beforeTurnHooks: [hook] });
    const asked = request(randomUUID(), 'Hello');

    await expect(send(asked)).rejects.toMatchObject({
      reason: 'TURN_DENIED',
      publicMessage: 'Your trial has ended.',
      retryable: false,
    });
    expect(await readHead(dependencies.store, asked.conversationId)).toBeUndefined();
    expect(requests).toEqual([]);
  });

  test('is not asked again about a message that is known', async () => {
    const { hook, events } = hookOf({ addContext: 'Gold member' });
    const { send } = world({ beforeTurnHooks: [hook] });
    const asked = request(randomUUID(), 'Hello');

    await send(asked);
    await send(asked);

    expect(events).toHaveLength(1);
  });

  test('is asked about a regeneration, which has no text', async () => {
    const { hook, events } = hookOf(undefined);
    const { send } = world({ beforeTurnHooks: [hook] }, { BEFORE_TURN_TEXT: 'on' });
    const asked = request(randomUUID(), 'Hello');
    await send(asked);

    await send(regenerate(asked.conversationId, 'm_1'));

    expect(events[1]).not.toHaveProperty('text');
    expect(events[1]).toMatchObject({ turnId: 't_2' });
  });

  test('refuses before it interrupts what is being answered', async () => {
    const stack = instances();
    const id = randomUUID();
    const open = stack.instance();
    const closed = stack.instance({ beforeTurnHooks: [hookOf({ deny: { message: 'No.' } }).hook] });
    await sendMessage(open, request(id, 'one'));
    await stack.called(1);

    const interrupting = { ...request(id, 'two'), onBusy: 'interrupt' as const };

    await expect(sendMessage(closed, interrupting)).rejects.toThrow(/refused a message/);
    const [first] = await turnsOf(open, id, 1);
    expect(first).toMatchObject({ state: 'running' });
    expect(first).not.toHaveProperty('cancelRequested');
  });

  test('is asked once about a message that waits, when it is stored', async () => {
    const stack = instances();
    const id = randomUUID();
    const { hook, events } = hookOf({ addContext: 'Gold member' });
    const chat = stack.instance({ beforeTurnHooks: [hook] });
    await sendMessage(chat, request(id, 'one'));
    await stack.called(1);

    await sendMessage(chat, queued(id, 'two'));

    const [, waiting] = await turnsOf(chat, id, 2);
    expect(waiting?.surroundings).toContain(LABEL);
    expect(events).toHaveLength(2);
  });

  test.each<[string, BeforeTurnHook['run']]>([
    ['fails', () => Promise.reject(new Error('down'))],
    ['adds too much', () => Promise.resolve({ addContext: 'x'.repeat(8_193) })],
    ['adds half a character', () => Promise.resolve({ addContext: '\ud800' })],
  ])('that %s is logged and changes nothing, unless it is required', async (_, run) => {
    const failing = { name: 'crm', run };
    const { send, said, logged } = world({ beforeTurnHooks: [failing] });
    const required = world({ beforeTurnHooks: [{ ...failing, required: true }] });
    const asked = request(randomUUID(), 'Hello');

    await send(asked);

    expect(said()).toEqual(['Hello']);
    expect(logged).toContainEqual({
      severity: 'WARNING',
      event: 'before_turn_hook_failed',
      fields: { conversationId: asked.conversationId, hook: 'crm' },
    });
    await expect(required.send(asked)).rejects.toMatchObject({
      reason: 'HOOK_FAILED',
      retryable: true,
    });
  });

  test('that finds no room for its text is logged without it', async () => {
    const cjk = '한'.repeat(8_192);
    const hooks = ['a', 'b'].map((name) => hookOf({ addContext: cjk }, name).hook);
    const { send, logged } = world({ beforeTurnHooks: hooks });

    await send(request(randomUUID(), 'Hello'));

    expect(logged.filter(({ event }) => event === 'before_turn_context_left_out')).toMatchObject([
      { severity: 'WARNING', fields: { hook: 'b' } },
    ]);
    expect(JSON.stringify(logged)).not.toContain('한');
  });
});

describe('a webhook before a turn', () => {
  async function withWebhook(reply: WebhookReply, required = false) {
    const server = await startWebhook(reply);
    const clock = createManualClock();
    const made = world(calling([server.host], clock));
    const hooks: Webhook[] = [{ url: server.url, events: ['beforeTurn'], required }];
    const id = await conversationWith(made.dependencies, hooks);
    return { ...made, clock, server, id };
  }

  test('gets a signed event and adds a context', async () => {
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

  test('may refuse', async () => {
    const body = JSON.stringify({ deny: { message: 'Your trial has ended.' } });
    const { send, id } = await withWebhook({ body });

    await expect(send(request(id, 'Hello'))).rejects.toMatchObject({ reason: 'TURN_DENIED' });
  });

  test.each<[string, WebhookReply]>([
    ['answers nothing', {}],
    ['answers an error', { status: 500 }],
    ['answers no JSON', { body: 'ok' }],
    ['answers too much', { body: JSON.stringify({ addContext: 'x'.repeat(8_193) }) }],
  ])('that %s does not stop the message', async (_, reply) => {
    const { send, said, id } = await withWebhook(reply);

    await send(request(id, 'Hello'));

    expect(said()).toEqual(['Hello']);
  });

  test('that hangs is left after two seconds', async () => {
    const { send, said, clock, server, id } = await withWebhook({ hangs: true });

    const sending = send(request(id, 'Hello'));
    await server.called;
    clock.advance(2_000);
    await sending;

    expect(said()).toEqual(['Hello']);
  });

  test('that is required and fails refuses the message', async () => {
    const { send, id } = await withWebhook({ status: 503 }, true);

    await expect(send(request(id, 'Hello'))).rejects.toMatchObject({ reason: 'HOOK_FAILED' });
  });

  test('adds what it adds behind those of the deployment and of the remote document', async () => {
    const remote = await startWebhook({ body: JSON.stringify({ addContext: 'remote' }) });
    const own = await startWebhook({ body: JSON.stringify({ addContext: 'own' }) });
    const base = world();
    const { store, clock, logger } = base.dependencies;
    const remotePolicy = createRemotePolicy({ store, clock, logger });
    const hooks = [{ url: remote.url, events: ['beforeTurn'] }];
    await store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields: { hooks } }]);
    await remotePolicy.refresh();
    const { send, said } = world({
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
