import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { messageGuardPath, turnPath } from '#shared/conversation/documents/paths.ts';
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

  test('an upper-case conversation id keeps naming a conversation stored under it before', async () => {
    const id = capitals();
    await send(id.toLowerCase(), message(randomUUID()));
    const [conversation] = await store.get([`conversations/${id.toLowerCase()}`]);
    const fields = { ...conversation?.fields, title: 'Of an earlier release' };
    await store.commit([{ op: 'create', path: `conversations/${id}`, fields }]);

    const shown = await app.ok({ method: 'GET', path: pathOf(id), uid });

    expect(shown).toMatchObject({ id, title: 'Of an earlier release' });
  });
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

  test('an upper-case message id keeps naming a message stored under it before', async () => {
    const [id, messageId] = [randomUUID(), capitals()];
    await send(id, message(messageId));
    const now = messageGuardPath(id, messageId.toLowerCase());
    const [guard, turn] = await store.get([now, turnPath(id, 1)]);
    await store.commit([
      { op: 'delete', path: now },
      { op: 'create', path: messageGuardPath(id, messageId), fields: guard?.fields ?? {} },
      {
        op: 'update',
        path: turnPath(id, 1),
        fields: { messageId },
        guard: { updateTime: turn?.updateTime ?? '' },
      },
    ]);

    await send(id, message(messageId));
    const path = `${pathOf(id)}/messages/${messageId}`;
    const deleted = await app.call({ method: 'DELETE', path, uid });

    expect(await turnsOf(id)).toEqual([1]);
    expect(deleted.status).toBeLessThan(300);
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
