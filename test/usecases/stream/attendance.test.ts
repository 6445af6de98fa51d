import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { serveForTest } from '#test/support/chat/chat-server.ts';
import { eventually } from '#test/support/eventually.ts';

/** Connections that the server has seen closed. */
let closings = 0;

const sse = { accept: 'text/event-stream' };
const json = { accept: 'application/json' };
const notified = { FCM_PROJECT: 'demo-recap' };

async function started(environment: Record<string, string> = notified) {
  const model = steeredStreamer();
  const server = await serveForTest({ overrides: { model: model.model }, environment });
  server.server.on('connection', (socket: Socket) => socket.on('close', () => closings++));
  const { dependencies } = server;
  const conversationId = randomUUID();
  const path = `/v1/conversations/${conversationId}`;
  const body = { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Tell me.' }] } };
  /** Sends; the connection is closed when its controller fires. */
  const send = (headers: Record<string, string>) => {
    const connection = new AbortController();
    const response = server.call(`${path}/messages`, { body, headers, signal: connection.signal });
    response.catch(() => undefined);
    return { response, connection };
  };
  const ended = () =>
    eventually('the end of the turn', () =>
      Promise.resolve(
        dependencies.liveTurns.size === 0 && dependencies.afterwork.size === 0 ? true : undefined,
      ),
    );
  return { model, send, ended, path, conversationId, server, told: dependencies.told };
}

/** Leaves, and waits until the closed connection has been noticed; the client may open another one meanwhile. */
async function leave(connection: AbortController): Promise<void> {
  const before = closings;
  connection.abort();
  await eventually('the closed connection', () =>
    Promise.resolve(closings > before ? true : undefined),
  );
}

const finished = {
  topic: 'events',
  data: {
    schemaVersion: 1,
    type: 'turn.finished',
    turnId: 't_1',
    attempt: 1,
    state: 'done',
    kind: 'message',
  },
};

test.each([
  ['a stream', sse],
  ['a JSON', json],
])('an answer’s end is published to nobody while somebody waits for %s', async (_, headers) => {
  const { model, send, ended, told } = await started();
  const { response } = send(headers);
  const call = await model.call(0);

  call.say('Fine.');
  call.end();
  await (await response).text();
  await ended();

  expect(told).toEqual([]);
});

test.each([
  ['stream', sse],
  ['JSON', json],
])('an answer’s end is published once the caller who wanted a %s has left', async (_, headers) => {
  const { model, send, ended, told, conversationId } = await started();
  const { connection } = send(headers);
  const call = await model.call(0);
  call.say('Fine.');
  await leave(connection);

  call.end();
  await ended();

  expect(told).toMatchObject([finished]);
  expect(told[0]?.data).toMatchObject({ conversationId, isAttended: false });
  expect(JSON.stringify(told)).not.toMatch(/Fine|Tell me/);
});

test('an answer’s end is not published where nobody can be told of it', async () => {
  const { model, send, ended, told } = await started({});
  const { connection } = send(sse);
  const call = await model.call(0);
  await leave(connection);

  call.end();
  await ended();

  expect(told).toEqual([]);
});

test('an answer’s end is published to a webhook whether or not somebody waits', async () => {
  const { model, send, ended, told } = await started({
    EVENT_WEBHOOK_URL: 'https://hooks.example.com/events',
    HOOK_HOSTS: 'hooks.example.com',
    HOOK_SIGNING_KEY: 'a signing key of thirty-two chars',
  });
  const { response } = send(sse);
  const call = await model.call(0);

  call.end();
  await (await response).text();
  await ended();

  expect(told).toMatchObject([{ data: { type: 'turn.finished', isAttended: true } }]);
});

test('an unpublishable event costs neither the answer nor its stream’s end', async () => {
  const model = steeredStreamer();
  const published = Promise.withResolvers<void>();
  const chat = await serveForTest({
    overrides: { model: model.model, publisher: { publish: () => published.promise } },
    environment: {
      EVENT_WEBHOOK_URL: 'https://hooks.example.com/events',
      HOOK_HOSTS: 'hooks.example.com',
      HOOK_SIGNING_KEY: 'a signing key of thirty-two chars',
    },
  });
  const response = chat.call(`/v1/conversations/${randomUUID()}/messages`, {
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Tell me.' }] } },
    headers: sse,
  });
  const call = await model.call(0);

  call.say('Fine.');
  call.end();

  expect(await (await response).text()).toMatch(/\[DONE\]\s*$/);
  published.reject(new Error('no bus'));
  await eventually('the end of all work', () =>
    Promise.resolve(chat.dependencies.afterwork.size === 0 ? true : undefined),
  );
  expect(chat.logs.filter(({ event }) => event === 'turn_event_not_published')).toHaveLength(1);
});
