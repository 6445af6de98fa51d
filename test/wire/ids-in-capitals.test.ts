import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { createUploadResponse } from '#shared/wire/resources/uploads.ts';
import { createResources, createWireApp, type Resources } from '../support/chat/wire-app.ts';
import { servedDocument } from '#infra/reference/api-document.ts';
import { targetsOf } from './attacks/generated-requests.ts';

const app = createWireApp();
const { store } = app.dependencies;
const uid = 'alice';

const capitals = () => randomUUID().toUpperCase();
const message = (id: string, text = 'Hello') => ({
  message: { id, parts: [{ type: 'text', text }] },
});
const pathOf = (id: string) => `/v1/conversations/${id}`;
const send = (id: string, body: object) =>
  app.ok({ method: 'POST', path: `${pathOf(id)}/messages`, uid, body });

/** The seqs of a conversation’s turns. */
const turnsOf = async (id: string) =>
  (await readTurns(store, id, [1, 2, 3, 4])).flatMap((turn) => (turn ? [turn.value.seq] : []));

/** Each way in which a request names a conversation, and says something in it. */
const ways: [string, (id: string) => Promise<unknown>][] = [
  ['the path', (id) => send(id, message(randomUUID()))],
  [
    'the body that creates it',
    (id) => app.ok({ method: 'POST', path: '/v1/conversations', uid, body: { id } }),
  ],
  [
    'the body of a fork',
    async (id) => {
      const source = randomUUID();
      await send(source, message(randomUUID()));
      const body = { messageId: 'm_1', id };
      return app.ok({ method: 'POST', path: `${pathOf(source)}:fork`, uid, body });
    },
  ],
  [
    'the metadata of a client of OpenAI',
    (conversation_id) =>
      app.ok({
        method: 'POST',
        path: '/v1/openai/chat/completions',
        uid,
        body: {
          model: 'recap',
          messages: [{ role: 'user', content: 'Hi' }],
          metadata: { conversation_id },
        },
      }),
  ],
  [
    'the header of a client of OpenAI',
    (id) =>
      app.call({
        method: 'POST',
        path: '/v1/openai/chat/completions',
        uid,
        headers: { 'x-conversation-id': id },
        body: JSON.stringify({ model: 'recap', messages: [{ role: 'user', content: 'Hi' }] }),
      }),
  ],
  [
    'a callable',
    (conversationId) =>
      app.ok({
        method: 'POST',
        path: '/callable/chat',
        uid,
        body: { data: { conversationId, ...message(randomUUID()) } },
      }),
  ],
  [
    'the chat of an AI SDK',
    (id) =>
      app.call({
        method: 'POST',
        path: '/v1/ai-sdk/chat',
        uid,
        body: JSON.stringify({
          id,
          messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
        }),
      }),
  ],
];

describe('an id of a conversation in capitals', () => {
  test.each(ways)('a conversation id in capitals is the same in %s', async (_, name) => {
    const id = capitals();

    await name(id);

    expect(await store.get([`conversations/${id}`])).toEqual([undefined]);
    const shown = await app.call({ method: 'GET', path: pathOf(id.toLowerCase()), uid });
    expect(shown.status).toBe(200);
  });

  // The folded turns are read by a token, for the path that was given with it.
  const reads = targetsOf(servedDocument()).filter(
    ({ method, path }) =>
      method === 'GET' && path.includes('{conversationId}') && !path.endsWith('/foldedTurns'),
  );
  let ids: Resources;
  beforeAll(async () => {
    ids = await createResources(app, { uid, canary: 'hers' });
  });
  test.each(reads.map((target) => [target.path, target] as const))(
    'an upper-case conversation id is the same for %s',
    async (path, { operation }) => {
      const query = operation.parameters
        .filter((parameter) => parameter.in === 'query' && parameter.required)
        .map(({ name }) => `${name}=hers`)
        .join('&');
      const at = (conversationId: string) =>
        path.replaceAll(/\{(\w+)\}/g, (__, name: string) =>
          name === 'conversationId' ? conversationId : (ids[name] ?? ''),
        );
      const read = async (id: string) => {
        const { status, text } = await app.call({ method: 'GET', path: `${at(id)}?${query}`, uid });
        return { status, text };
      };
      const id = ids['conversationId'] ?? '';

      const written = await read(id);

      expect(await read(id.toUpperCase())).toEqual(written);
      expect(written.status).toBeLessThan(300);
    },
  );
});

describe('an id of a message in capitals', () => {
  test('a message id in capitals is the same message', async () => {
    const [id, messageId] = [randomUUID(), capitals()];
    await send(id, message(messageId.toLowerCase()));

    const again = await send(id, message(messageId));

    expect(again).toMatchObject({ turn: { messageId: messageId.toLowerCase() } });
    expect(await turnsOf(id)).toEqual([1]);
  });

  test.each([
    { done: 'edited', method: 'POST', verb: ':edit', body: message(randomUUID(), 'Changed') },
    { done: 'answered anew', method: 'POST', verb: ':regenerate', body: { id: capitals() } },
    { done: 'deleted', method: 'DELETE', verb: '', body: undefined },
  ])('a message id in capitals is $done', async ({ method, verb, body }) => {
    const [id, messageId] = [randomUUID(), randomUUID()];
    await send(id, message(messageId));
    const path = `${pathOf(id)}/messages/${messageId.toUpperCase()}${verb}`;

    const answer = await app.call({ method, path, uid, body: body && JSON.stringify(body) });

    expect(answer.status).toBeLessThan(300);
  });
});

test('an upload id in capitals is the same upload', async () => {
  const file = { mimeType: 'text/plain', sizeBytes: 5, name: 'a.txt' };
  const upload = await app.ok({ method: 'POST', path: '/v1/uploads', uid, body: file });
  const { uploadId } = createUploadResponse.parse(upload);
  const path = `/v1/uploads/${uploadId.toUpperCase()}`;

  const read = await app.ok({ method: 'GET', path, uid });

  expect(read).toMatchObject({ uploadId });
});

test('an upload id in capitals is the same upload in a message of an AI SDK', async () => {
  const file = { mimeType: 'text/plain', sizeBytes: 5, name: 'a.txt' };
  const upload = await app.ok({ method: 'POST', path: '/v1/uploads', uid, body: file });
  const { uploadId } = createUploadResponse.parse(upload);
  const url = `upload:${uploadId.toUpperCase()}`;
  const parts = [{ type: 'file', mediaType: 'text/plain', url }];

  const sent = await app.call({
    method: 'POST',
    path: '/v1/ai-sdk/chat',
    uid,
    body: JSON.stringify({
      id: randomUUID(),
      messages: [{ id: randomUUID(), role: 'user', parts }],
    }),
  });

  expect(sent.text).toContain(`"uploadId":"${uploadId}"`);
});

test('an Idempotency-Key in capitals names the same message', async () => {
  const [conversation_id, key] = [randomUUID(), capitals()];
  const say = (idempotencyKey: string) =>
    app.call({
      method: 'POST',
      path: '/v1/openai/chat/completions',
      uid,
      headers: { 'idempotency-key': idempotencyKey },
      body: JSON.stringify({
        model: 'recap',
        messages: [{ role: 'user', content: 'Hi' }],
        metadata: { conversation_id },
      }),
    });

  await say(key);
  await say(key.toLowerCase());

  expect(await turnsOf(conversation_id)).toEqual([1]);
});

test('a requestId in capitals is the same compaction, and its job is cancelled under it', async () => {
  const { conversationId = '' } = await createResources(app, { uid, canary: 'hers' });
  const requestId = capitals();
  const compact = (id: string) =>
    app.ok({
      method: 'POST',
      path: `${pathOf(conversationId)}:compact`,
      uid,
      body: { requestId: id },
    });

  const asked = await compact(requestId);
  const again = await compact(requestId.toLowerCase());
  const path = `${pathOf(conversationId)}/compactions/${requestId}:cancel`;
  const cancelled = await app.ok({ method: 'POST', path, uid });

  expect(again).toEqual(asked);
  expect(cancelled).toMatchObject({ jobId: requestId.toLowerCase() });
});

/** What the app names by an id of its own choice, such as the UUID of an installation. */
const ownNames: [string, (id: string) => Promise<unknown>, (id: string) => string][] = [
  [
    'device',
    (id) =>
      app.ok({
        method: 'PUT',
        path: `/v1/users/me/devices/${id}`,
        uid,
        body: { token: 'a-push-token', platform: 'ios' },
      }),
    (id) => `/v1/users/me/devices/${id}`,
  ],
  [
    'note',
    (id) =>
      app.ok({
        method: 'POST',
        path: '/v1/users/me/memories',
        uid,
        body: { id, text: 'I like tea.' },
      }),
    (id) => `/v1/users/me/memories/${id}`,
  ],
  [
    'pin',
    (id) =>
      app.ok({ method: 'PUT', path: `${pathOf(own)}/pins/${id}`, uid, body: { text: 'Tea.' } }),
    (id) => `${pathOf(own)}/pins/${id}`,
  ],
];
const own = randomUUID();

describe('a UUID of the app’s choice in capitals', () => {
  beforeAll(() => app.ok({ method: 'POST', path: '/v1/conversations', uid, body: { id: own } }));

  test.each(ownNames)('a UUID in capitals names the same %s', async (_, put, pathTo) => {
    const id = capitals();
    await put(id);
    await put(id.toLowerCase());

    const [read, listed] = await Promise.all([
      app.ok({ method: 'GET', path: pathTo(id), uid }),
      app.call({ method: 'GET', path: pathTo('').replace(/\/$/, ''), uid }),
    ]);
    const gone = await app.call({ method: 'DELETE', path: pathTo(id), uid });
    const after = await app.call({ method: 'GET', path: pathTo(id.toLowerCase()), uid });

    expect(read).toMatchObject({ id: id.toLowerCase() });
    expect(listed.text.toLowerCase().split(id.toLowerCase())).toHaveLength(2);
    expect([gone.status, after.status]).toEqual([204, 404]);
  });
});
