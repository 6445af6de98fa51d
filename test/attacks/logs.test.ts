import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { eventually } from '#test/support/eventually.ts';
import { pushOf } from '#test/support/processes/pushing.ts';
import {
  createConversation,
  saying,
  startWorld,
  taken,
  type World,
  modelFaults,
  type PrintingHost,
} from './printing-host.ts';
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';

let running: PrintingHost | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function talk(world: World, path: string): Promise<void> {
  for (let turn = 0; turn < 30; turn++)
    await taken(world, `${path}/messages`, {
      body: { message: saying(world) },
      headers: { accept: turn % 2 === 0 ? 'application/json' : 'text/event-stream' },
    });
}

const generationOf = async ({ call }: World, path: string) =>
  conversationResponse.parse(JSON.parse((await call(path)).text)).generation;

/** Has a conversation compacted until it is of this generation. */
async function compact(world: World, path: string, generation: number): Promise<void> {
  await world.call(`${path}:compact`, { body: { focus: world.canaries.text(4) } });
  await eventually(`generation ${generation}`, async () =>
    (await generationOf(world, path)) >= generation ? true : undefined,
  );
}

/** Everything that is kept with a conversation or a user beside messages. */
async function keep(world: World, path: string): Promise<void> {
  const { canaries } = world;
  for (let i = 0; i < 10; i++) {
    const pin = `${path}/pins/${canaries.next()}`;
    await taken(world, pin, { method: 'PUT', body: { text: canaries.text(2) } });
    // The budget of pins is that of a small context.
    if (i > 2) await taken(world, pin, { method: 'DELETE' });
    await taken(world, `${path}/messages/m_${i + 1}/feedback`, {
      method: 'PUT',
      body: { rating: 'down', reason: canaries.next(), comment: canaries.text(4) },
    });
    await taken(world, `/v1/users/me/devices/${canaries.next()}`, {
      method: 'PUT',
      body: { token: `${canaries.next()}:${canaries.next()}`, platform: 'ios' },
    });
    await taken(world, '/v1/users/me/memories', {
      body: { text: canaries.text(4), topics: [canaries.next()], imports: [canaries.next()] },
    });
    const q = encodeURIComponent(canaries.text(4));
    await taken(world, `${path}:search?q=${q}`, {});
  }
  await taken(world, `${path}/compactions/1:rate`, {
    body: { score: 1, comment: canaries.text(4) },
  });
  await taken(world, `${path}?updateMask=title`, {
    method: 'PATCH',
    body: { title: canaries.text(4) },
  });
  for (const address of [`${path}/context`, `${path}:export?format=markdown`, `${path}/pins`])
    await taken(world, address, {});
}

/** The requests in which clients of other services say the same. */
function facadeRequests(world: World): { path: string; body: object }[] {
  const { canaries } = world;
  const dialogue = () => [
    { role: 'system', content: canaries.text(4) },
    { role: 'user', content: canaries.text(4) },
    { role: 'assistant', content: canaries.text(4) },
    { role: 'user', content: canaries.text(4) },
  ];
  const completion = (body: object) => ({
    path: '/v1/openai/chat/completions',
    body: {
      model: canaries.next(),
      user: canaries.next(),
      metadata: { conversation_id: randomUUID() },
      ...body,
    },
  });
  return [
    {
      path: '/v1/ai-sdk/chat',
      body: {
        id: canaries.next(),
        trigger: 'submit-message',
        messages: [{ ...saying(world, canaries.next()), role: 'user' }],
      },
    },
    {
      path: '/callable/chat',
      body: { data: { conversationId: randomUUID(), message: saying(world) } },
    },
    completion({ messages: dialogue(), stream: true }),
    completion({ messages: dialogue() }),
    completion({ messages: [{ role: 'user', content: canaries.text(4) }] }),
  ];
}

async function useFacades(world: World): Promise<void> {
  for (const { path, body } of [...facadeRequests(world), ...facadeRequests(world)])
    await taken(world, path, { body });
}

/** A title that fails while everything else is answered. */
async function failTitle(world: World, fault: Fault): Promise<void> {
  const { host } = world;
  const before = host.linesOf('title_failed').length;
  host.fakeGemini.queueFaults({ ...fault, match: { role: 'utility_title' } });
  const path = `/v1/conversations/${randomUUID()}/messages`;
  await taken(world, path, { body: { message: saying(world) } });
  await eventually('the end of a title', () =>
    Promise.resolve(host.linesOf('title_failed').length > before || undefined),
  );
  host.fakeGemini.clearFaults();
}

/** Chat and its façades with a model whose errors quote what it was asked. */
async function failModel(world: World): Promise<void> {
  for (const fault of modelFaults(world)) {
    await failTitle(world, fault);
    world.host.fakeGemini.queueFaults(fault);
    const path = await createConversation(world);
    for (const accept of ['application/json', 'text/event-stream'])
      await world.call(`${path}/messages`, {
        body: { message: saying(world) },
        headers: { accept },
      });
    for (const { path: address, body } of facadeRequests(world))
      await world.call(address, { body });
    world.host.fakeGemini.clearFaults();
  }
}

/** A compaction that cannot be summarised: it fails, or does without. */
async function failCompaction(world: World, path: string): Promise<void> {
  const { host, canaries, call } = world;
  await talk(world, path);
  await eventually('the compactions of the talk', async () => {
    const { text } = await call(`${path}/context`);
    return /"state":"(?:queued|running|requested)"/.test(text) ? undefined : true;
  });
  const faults = modelFaults(world);
  for (const fault of faults.filter(({ kind, code }) => kind === 'halfEvent' || code === 400)) {
    const before = host.linesOf('chat_compression').length;
    host.fakeGemini.queueFaults(fault);
    await call(`${path}:compact`, { body: { focus: canaries.text(4) } });
    await eventually('the end of a compaction', () =>
      Promise.resolve(host.linesOf('chat_compression').length > before || undefined),
    );
    host.fakeGemini.clearFaults();
  }
}

/** Bodies that are refused, each with canaries in keys, values and ids. */
async function sendBrokenBodies(world: World, path: string): Promise<void> {
  const { canaries, call } = world;
  const bodies = (): unknown[] => [
    { message: { ...saying(world), [canaries.next()]: canaries.next() } },
    { message: saying(world, canaries.next()) },
    { message: { id: randomUUID(), parts: [{ type: canaries.next() }] } },
    { message: saying(world), locale: canaries.text(2) },
    { data: { conversationId: canaries.next(), message: canaries.next() } },
    { id: canaries.next(), messages: canaries.next(), trigger: canaries.next() },
    { model: canaries.next(), messages: [{ role: canaries.next(), content: canaries.next() }] },
    `{"message": ${canaries.next()}`,
    `"${canaries.next()}`,
    `{"__proto__": {"${canaries.next()}": 1}`,
    canaries.next(),
  ];
  const addresses = [
    `${path}/messages`,
    '/v1/conversations',
    '/v1/ai-sdk/chat',
    '/v1/openai/chat/completions',
    '/callable/chat',
    `${path}:compact`,
  ];
  for (const address of addresses)
    for (const body of bodies())
      expect((await call(address, { body })).status).toBeGreaterThanOrEqual(400);
}

/** Addresses that are not there, headers and queries of somebody who tries. */
async function askOddly({ canaries, call }: World, path: string): Promise<void> {
  for (const address of [
    `/v1/${canaries.next()}`,
    `/v1/conversations/${canaries.next()}`,
    `/v1/conversations?${canaries.next()}=${canaries.next()}`,
    `/v1/conversations?pageToken=${canaries.next()}`,
    `${path}:${canaries.next()}`,
    `${path}/turns/${canaries.next()}/stream`,
    `${path}/messages/${canaries.next()}:edit`,
    `/${canaries.next()}`,
  ])
    for (const method of ['GET', 'POST', canaries.next().toUpperCase()])
      await call(address, {
        method,
        headers: {
          'x-cloud-trace-context': canaries.next(),
          'x-firebase-appcheck': canaries.next(),
          'last-event-id': canaries.next(),
          'user-agent': canaries.next(),
        },
      });
}

/** Tokens that nobody is let in with, at both functions. */
async function useWrongTokens({ host, canaries, call }: World): Promise<void> {
  const claims = { iss: canaries.next(), aud: canaries.next(), sub: canaries.next() };
  const now = Math.floor(Date.now() / 1_000);
  const tokens = [
    canaries.next(),
    `${canaries.next()}.${canaries.next()}.${canaries.next()}`,
    host.keys.unsigned(claims),
    await host.keys.sign({ ...claims, exp: now + 60 }),
    await host.keys.sign({ ...claims, exp: now - 60 }),
    await host.keys.sign(claims, { forged: true }),
    await host.keys.sign(claims, { kid: canaries.next() }),
    await host.keys.sign(claims, { header: { [canaries.next()]: canaries.next() } }),
  ];
  for (const token of tokens) {
    canaries.add(token);
    expect((await call('/v1/conversations', { token })).status).toBe(401);
    expect((await call('/callable/chat', { token, body: {} })).status).toBe(401);
  }
}

/** What comes to the worker and is no event of ours. */
async function pushNonsense({ host, canaries }: World): Promise<void> {
  const bodies = [
    canaries.next(),
    JSON.stringify({ message: { data: canaries.next(), messageId: '1' } }),
    pushOf(canaries.next()),
    pushOf({ [canaries.next()]: canaries.next() }),
    pushOf({
      schemaVersion: 1,
      conversationId: `a/${canaries.next()}`,
      requestId: canaries.next(),
    }),
  ];
  const url = host.compactionUrl;
  for (const body of bodies) {
    expect((await fetch(url, { method: 'POST', body })).status).toBe(204);
    const headers = { authorization: `Bearer ${canaries.next()}` };
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401);
  }
}

test('S16: of a thousand words that users send, none is printed, whatever goes wrong', async () => {
  const world = await startWorld();
  running = world.host;
  const { host, canaries } = world;
  const path = await createConversation(world);

  await talk(world, path);
  await compact(world, path, 1);
  await keep(world, path);
  await useFacades(world);
  await failModel(world);
  await failCompaction(world, path);
  await sendBrokenBodies(world, path);
  await askOddly(world, path);
  await useWrongTokens(world);
  await pushNonsense(world);
  await host.stop();
  running = undefined;

  expect(canaries.count()).toBeGreaterThanOrEqual(1_000);
  expect(canaries.foundIn(host.output())).toEqual([]);
  // The ways along which something could have been printed were gone.
  expect(host.linesOf('request').length).toBeGreaterThan(250);
  expect(host.linesOf('chat_compression').length).toBeGreaterThan(2);
  expect(host.linesOf('title_made')).not.toEqual([]);
  expect(host.linesOf('title_failed').length).toBeGreaterThanOrEqual(5);
  expect(host.linesOf('compaction_push_malformed')).not.toEqual([]);
  for (const reason of ['REFUSED_REQUEST', 'UNKNOWN', 'QUOTA', 'OVERLOADED'])
    expect(host.linesOf('turn_finished').join()).toContain(`"MODEL_${reason}"`);
}, 180_000);
