import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

const sse = { accept: 'text/event-stream' };
const body = () => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] },
});

async function serving(overrides: Parameters<typeof startChatServer>[0] = {}) {
  chat = await startChatServer(overrides);
  return chat;
}

/** A server whose model is steered, with one message on its way. */
async function speaking() {
  const steered = steeredStreamer();
  const server = await serving({ overrides: { model: steered.model } });
  const conversation = `/v1/conversations/${randomUUID()}`;
  await server.call(`${conversation}/messages`, { body: body(), headers: sse });
  return { server, conversation, call: await steered.call() };
}

/** A server with one answered message. */
async function finished() {
  const server = await serving();
  const id = randomUUID();
  const conversation = `/v1/conversations/${id}`;
  const sent = body();
  const response = await server.call(`${conversation}/messages`, { body: sent, headers: sse });
  return { server, id, conversation, sent, text: await response.text() };
}

test.each([
  ['stream', /^id: 10000000\ndata: \{"type":"start"[^]*Hi\.[^]*data: \[DONE\]\n\n$/],
  ['turns/t_1/stream', /^id: 0\ndata: \{"type":"start"[^]*Hi\.[^]*data: \[DONE\]\n\n$/],
])('a conversation’s stream is served live under %s', async (path, expected) => {
  const { server, conversation, call } = await speaking();

  const response = await server.call(`${conversation}/${path}`);
  call.say('Hi.');
  call.end();
  const text = await response.text();

  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('x-turn-id')).toBe('t_1');
  expect(text).toMatch(expected);
});

test.each([['the query when both are given', '?startingAfter=1', { 'last-event-id': '3' }]])(
  'a conversation’s stream continues after the cursor of %s',
  async (_, query, headers: Record<string, string>) => {
    const { server, conversation, text } = await finished();

    const response = await server.call(`${conversation}/turns/t_1/stream${query}`, { headers });

    expect(await response.text()).toBe(text.slice(text.indexOf('id: 2\n')));
  },
);

test.each([
  ['?startingAfter=-1', {}, 'startingAfter'],
  ['?startingAfter=', {}, 'startingAfter'],
  ['', { 'last-event-id': '-1' }, 'Last-Event-ID'],
  ['', { 'last-event-id': 'abc' }, 'Last-Event-ID'],
  ['?startingAfter=99', {}, 'startingAfter'],
])(
  'a conversation’s stream refuses the cursor %s %o',
  async (query, headers: Record<string, string>, field) => {
    const { server, conversation } = await finished();

    const response = await server.call(`${conversation}/turns/t_1/stream${query}`, { headers });

    expect(await errorOf(response)).toMatchObject({
      http: 400,
      reason: 'BAD_FIELD',
      metadata: { field },
    });
  },
);

test.each([
  ['at the end', '5', /^data: \[DONE\]\n\n$/],
  ['behind the end', '99', /^id: 0\n[^]*"delta":"Fine\."[^]*data: \[DONE\]\n\n$/],
  ['of an attempt that has not been', '5000000', /^id: 0\n[^]*data: \[DONE\]\n\n$/],
  ['in the middle', '1', /^id: 2\n[^]*data: \[DONE\]\n\n$/],
])('a message resent with a cursor %s is never refused', async (_, cursor, expected) => {
  const { server, conversation, sent } = await finished();

  const response = await server.call(`${conversation}/messages`, {
    body: sent,
    headers: { ...sse, 'last-event-id': cursor },
  });

  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(expected);
});
