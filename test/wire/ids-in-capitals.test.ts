import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { servedDocument } from '#infra/reference/api-document.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { createUploadResponse } from '#shared/wire/resources/uploads.ts';
import { createResources, createWireApp } from '../support/chat/wire-app.ts';
import { targetsOf } from '../attacks/generated-requests.ts';

const app = createWireApp();
const { store } = app.dependencies;
const uid = 'alice';

/** A conversation with one message, which exists before all tests. */
const known = randomUUID();
beforeAll(() => send('/v1/conversations', { id: known }));

const capitals = () => randomUUID().toUpperCase();
const message = (id: string = randomUUID(), text = 'Hello') => ({
  message: { id, parts: [{ type: 'text', text }] },
});
const pathOf = (id: string) => `/v1/conversations/${id}`;

async function send(path: string, body: unknown, method = 'POST', headers = {}) {
  const answer = await app.call({ method, path, uid, headers, body: JSON.stringify(body) });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.text;
}

const get = (path: string) => app.call({ method: 'GET', path, uid });

const completion = { model: 'recap', messages: [{ role: 'user', content: 'Hi' }] };
const uiMessage = (...parts: object[]) => ({ id: randomUUID(), role: 'user', parts });

/** Each way in which a request names a conversation. */
const ways: [string, (id: string) => Promise<unknown>][] = [
  ['the path', (id) => send(`${pathOf(id)}/messages`, message())],
  ['the body that creates it', (id) => send('/v1/conversations', { id })],
  [
    'the body of a fork',
    async (id) => {
      await send(`${pathOf(known)}/messages`, message());
      return send(`${pathOf(known)}:fork`, { messageId: 'm_1', id });
    },
  ],
  [
    'the metadata of a client of OpenAI',
    (id) =>
      send('/v1/openai/chat/completions', { ...completion, metadata: { conversation_id: id } }),
  ],
  [
    'the header of a client of OpenAI',
    (id) => send('/v1/openai/chat/completions', completion, 'POST', { 'x-conversation-id': id }),
  ],
  ['a response', (conversation) => send('/v1/responses', { input: 'Hi', conversation })],
  [
    'a callable',
    (conversationId) => send('/callable/chat', { data: { conversationId, ...message() } }),
  ],
  [
    'the chat of an AI SDK',
    (id) => send('/v1/ai-sdk/chat', { id, messages: [uiMessage({ type: 'text', text: 'Hi' })] }),
  ],
];

test.each(ways)('a conversation id in capitals is the same in %s', async (_, name) => {
  const id = capitals();

  await name(id);

  expect(await store.get([`conversations/${id}`])).toEqual([undefined]);
  expect((await get(pathOf(id.toLowerCase()))).status).toBe(200);
});

test('a conversation id in capitals is the same on every route that reads one', async () => {
  const ids = await createResources(app, { uid, canary: 'hers' });
  const id = ids['conversationId'] ?? '';
  // The folded turns are read by a token, for the path that was given with it.
  const reads = targetsOf(servedDocument()).filter(
    ({ method, path }) =>
      method === 'GET' && path.includes('{conversationId}') && !path.endsWith('/foldedTurns'),
  );
  const readAll = (conversationId: string) =>
    Promise.all(
      reads.map(async ({ path }) => {
        const address = path.replaceAll(/\{(\w+)\}/g, (__, name: string) =>
          name === 'conversationId' ? conversationId : (ids[name] ?? ''),
        );
        const query = path.endsWith(':search') ? '?q=hers' : '';
        const { status, text } = await get(`${address}${query}`);
        return { path, status, text };
      }),
    );

  const written = await readAll(id);

  expect(written.filter(({ status }) => status >= 300)).toEqual([]);
  expect(await readAll(id.toUpperCase())).toEqual(written);
});

test('a message id in capitals is the same message', async () => {
  const [id, messageId] = [randomUUID(), capitals()];
  await send(`${pathOf(id)}/messages`, message(messageId.toLowerCase()));

  const again = JSON.parse(await send(`${pathOf(id)}/messages`, message(messageId)));

  expect(again).toMatchObject({ turn: { messageId: messageId.toLowerCase() }, replayed: true });
});

test.each([
  { done: 'edited', method: 'POST', verb: ':edit', body: message(randomUUID(), 'Changed') },
  { done: 'answered anew', method: 'POST', verb: ':regenerate', body: { id: capitals() } },
  { done: 'deleted', method: 'DELETE', verb: '', body: {} },
])('a message id in capitals is $done', async ({ method, verb, body }) => {
  const [id, messageId] = [randomUUID(), randomUUID()];
  await send(`${pathOf(id)}/messages`, message(messageId));
  const path = `${pathOf(id)}/messages/${messageId.toUpperCase()}${verb}`;

  await expect(send(path, body, method)).resolves.toBeTypeOf('string');
});

test('an Idempotency-Key in capitals names the same message', async () => {
  const [conversation_id, key] = [randomUUID(), capitals()];
  const say = (idempotencyKey: string) =>
    send('/v1/openai/chat/completions', { ...completion, metadata: { conversation_id } }, 'POST', {
      'idempotency-key': idempotencyKey,
    });

  await say(key);
  await say(key.toLowerCase());

  expect(await readTurns(store, conversation_id, [1, 2])).toHaveLength(1);
});

test('an upload id in capitals is the same upload, in its path and in a message of an AI SDK', async () => {
  const file = { mimeType: 'text/plain', sizeBytes: 5, name: 'a.txt' };
  const created = JSON.parse(await send('/v1/uploads', file));
  const { uploadId } = createUploadResponse.parse(created);
  const url = `upload:${uploadId.toUpperCase()}`;

  const read = await get(`/v1/uploads/${uploadId.toUpperCase()}`);
  const sent = await app.call({
    method: 'POST',
    path: '/v1/ai-sdk/chat',
    uid,
    body: JSON.stringify({
      id: randomUUID(),
      messages: [uiMessage({ type: 'file', mediaType: 'text/plain', url })],
    }),
  });

  expect(JSON.parse(read.text)).toMatchObject({ uploadId });
  expect(sent.text).toContain(`"uploadId":"${uploadId}"`);
});

test('a requestId in capitals is the same compaction, and its job is cancelled under it', async () => {
  const { conversationId = '' } = await createResources(app, { uid, canary: 'hers' });
  const requestId = capitals();
  const path = pathOf(conversationId);

  const asked = await send(`${path}:compact`, { requestId });
  const again = await send(`${path}:compact`, { requestId: requestId.toLowerCase() });
  const cancelled = await send(`${path}/compactions/${requestId}:cancel`, {});

  expect(again).toEqual(asked);
  expect(JSON.parse(cancelled)).toMatchObject({ jobId: requestId.toLowerCase() });
});

/** What the app names by an id of its own choice, such as the UUID of an installation. */
const ownNames: [string, list: string, put: (id: string) => Promise<unknown>][] = [
  [
    'device',
    '/v1/users/me/devices',
    (id) => send(`/v1/users/me/devices/${id}`, { token: 'a-push-token', platform: 'ios' }, 'PUT'),
  ],
  ['note', '/v1/users/me/memories', (id) => send('/v1/users/me/memories', { id, text: 'Tea.' })],
  [
    'pin',
    `${pathOf(known)}/pins`,
    (id) => send(`${pathOf(known)}/pins/${id}`, { text: 'Tea.' }, 'PUT'),
  ],
];

test.each(ownNames)('a UUID in capitals names the same %s', async (_, list, put) => {
  const id = capitals();
  await put(id);
  await put(id.toLowerCase());

  const [read, listed] = [await get(`${list}/${id}`), await get(list)];
  const gone = await app.call({ method: 'DELETE', path: `${list}/${id}`, uid });
  const after = await get(`${list}/${id.toLowerCase()}`);

  expect(JSON.parse(read.text)).toMatchObject({ id: id.toLowerCase() });
  expect(listed.text.toLowerCase().split(id.toLowerCase())).toHaveLength(2);
  expect([gone.status, after.status]).toEqual([204, 404]);
});
