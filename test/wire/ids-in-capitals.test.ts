import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { servedDocument } from '#infra/reference/api-document.ts';
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
