import { createBeforeTurnWebhooks } from '#functions/adapters/webhooks.ts';
import { REMOTE_POLICY_PATH, createRemotePolicy } from '#functions/config/remote-documents.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { BeforeTurnAnswer, BeforeTurnHook } from '#shared/hooks/before-turn.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { instances, queued, request } from '#test/support/chat/sending.ts';
import { passTime } from '#test/support/pass-time.ts';
import { tool } from '#test/support/tools/tool-world.ts';
import { startWebhook } from '#test/support/processes/webhook-server.ts';
import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const signingKey = 'a signing key of thirty-two chars';

interface Logged {
  severity: string;
  event: string;
  fields: object;
}

/** An instance of chat whose hooks are given, and what it asked and logged. */
function hookedChat(overrides: Partial<ChatDependencies> = {}) {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const logged: Logged[] = [];
  const dependencies = chatDependencies({
    model,
    logger: { log: (severity, event, fields) => logged.push({ severity, event, fields }) },
    ...overrides,
  });
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
function hookOf(answer: BeforeTurnAnswer | undefined) {
  const events: unknown[] = [];
  const hook: BeforeTurnHook = {
    name: 'crm',
    run: ({ event }) => {
      events.push(event);
      return Promise.resolve(answer);
    },
  };
  return { hook, events };
}

describe('a hook before a turn', () => {
  test('a hook before a turn gets the message id and none of its text', async () => {
    const { hook, events } = hookOf(undefined);
    const { send } = hookedChat({ beforeTurnHooks: [hook] });
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

  test('a hook before a turn adds text behind the app’s context, stored with the turn', async () => {
    const { hook } = hookOf({ addContext: 'Gold member' });
    const { send, said, requests } = hookedChat({ beforeTurnHooks: [hook] });
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

  test('a hook before a turn refuses in its own words, and nothing is stored or called', async () => {
    const { hook } = hookOf({ deny: { message: 'Your trial has ended.' } });
    const { send, dependencies, requests } = hookedChat({ beforeTurnHooks: [hook] });
    const asked = request(randomUUID(), 'Hello');

    await expect(send(asked)).rejects.toMatchObject({
      reason: 'TURN_DENIED',
      publicMessage: 'Your trial has ended.',
      retryable: false,
    });
    expect(await readConversation(dependencies.store, asked.conversationId)).toBeUndefined();
    expect(requests).toEqual([]);
  });

  test('a hook before a turn is not called again for a known message', async () => {
    const { hook, events } = hookOf({ addContext: 'Gold member' });
    const { send } = hookedChat({ beforeTurnHooks: [hook] });
    const asked = request(randomUUID(), 'Hello');

    await send(asked);
    await send(asked);

    expect(events).toHaveLength(1);
  });

  const refused = new AppError({
    status: 'UNAVAILABLE',
    reason: 'WEBHOOK_FAILED',
    message: 'crm.example answered 502',
    publicMessage: 'A webhook failed.',
  });
  const failed = { reason: 'WEBHOOK_FAILED', problem: 'crm.example answered 502' };

  test.each<[string, { run: BeforeTurnHook['run']; cause: object }]>([
    [
      'fails',
      { run: () => Promise.reject(new TypeError('secret')), cause: { reason: 'TypeError' } },
    ],
    ['answers an error', { run: () => Promise.reject(refused), cause: failed }],
    [
      'adds too much',
      {
        run: () => Promise.resolve({ addContext: 'x'.repeat(8_193) }),
        cause: { reason: 'ZodError' },
      },
    ],
  ])(
    'a hook before a turn that %s is logged with the cause and ignored, unless required',
    async (_, { run, cause }) => {
      const failing = { name: 'crm', run };
      const { send, said, logged } = hookedChat({ beforeTurnHooks: [failing] });
      const required = hookedChat({ beforeTurnHooks: [{ ...failing, required: true }] });
      const asked = request(randomUUID(), 'Hello');

      await send(asked);

      expect(said()).toEqual(['Hello']);
      expect(logged).toContainEqual({
        severity: 'WARNING',
        event: 'before_turn_hook_failed',
        fields: expect.objectContaining({
          conversationId: asked.conversationId,
          hook: 'crm',
          ...cause,
        }),
      });
      await expect(required.send(asked)).rejects.toMatchObject({
        reason: 'HOOK_FAILED',
        retryable: true,
      });
    },
  );
});

test('a waiting message is answered by the model that was chosen for it, whichever instance begins it', async () => {
  const world = instances();
  const { hook, events } = hookOf({ model: 'gemini-3.1-pro-preview' });
  const beforeTurnHooks = [hook];
  const asked = queued(randomUUID(), 'two');
  const first = await sendMessage(world.instance(), request(asked.conversationId, 'one'));
  const ending = new AbortController();
  const dying = world.instance({ beforeTurnHooks, shutdown: ending.signal });
  const handle = await sendMessage(dying, asked);
  ending.abort();
  await expect(passTime(world.clock, handle.result)).rejects.toMatchObject({
    reason: 'SHUTTING_DOWN',
  });

  const again = await sendMessage(world.instance({ beforeTurnHooks }), asked);
  world.answerAll();
  await first.result;
  await passTime(world.clock, again.result);

  expect(world.calls.map(({ text, request: { model } }) => ({ text, model }))).toEqual([
    { text: 'one', model: 'gemini-3.8-flash' },
    { text: 'two', model: 'gemini-3.1-pro-preview' },
  ]);
  expect(events).toHaveLength(1);
});

test('tools that were chosen for a turn hold for the instance that takes it over, and no other may be asked for', async () => {
  const world = instances();
  const toolbox = createToolbox([
    tool('look', {}, () => Promise.resolve({})),
    tool('pay', {}, () => Promise.resolve({})),
  ]);
  const { hook } = hookOf({ tools: ['look'] });
  const asked = {
    ...request(randomUUID(), 'one'),
    options: { toolChoice: { name: 'pay' } },
  };
  const dying = world.instance({
    toolbox,
    beforeTurnHooks: [hook],
    atCrashPoint: (point) =>
      point === 'turn-started' ? new Promise<void>(() => undefined) : Promise.resolve(),
  });
  await sendMessage(dying, asked);
  world.clock.advance(120_000);
  world.answerAll();

  await passTime(
    world.clock,
    sendMessage(world.instance({ toolbox }), asked).then(({ result }) => result),
  );

  const [call] = world.calls;
  expect(call?.request.tools?.map(({ name }) => name)).toEqual(['look']);
  expect(call?.request.toolChoice).toBeUndefined();
});

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

test('a webhook before a turn gets a signed event and adds a context', async () => {
  const body = JSON.stringify({ addContext: 'Gold member', later: 'ignored' });
  const server = await startWebhook({ body });
  const clock = createManualClock();
  const remotePolicy = await policyWith([{ url: server.url, events: ['beforeTurn'] }]);
  const hosts = [server.host];
  const { config } = hookedChat().dependencies;
  const { send, said } = hookedChat({
    clock,
    beforeTurnWebhooks: (given: readonly Webhook[]) =>
      createBeforeTurnWebhooks(given, { hosts, allowsHttp: true, signingKey, clock }),
    config: { ...config, remotePolicy },
  });
  const id = randomUUID();

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
