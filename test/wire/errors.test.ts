import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { errorReasons } from '#shared/lib/error-reasons.ts';
import { createWireApp, type WireAnswer } from '#test/support/chat/wire-app.ts';

const environment = { CLIENT_WRITABLE: 'model', MODEL_WINDOWS: '{"house-model":32000}' };
const app = createWireApp({}, environment);
const uid = 'alice';

const conversation = `/v1/conversations/${randomUUID()}`;
const messages = `${conversation}/messages`;
const text = [{ type: 'text', text: 'Hi' }];
const message = (fields: object = {}) => ({ id: randomUUID(), parts: text, ...fields });

interface Mistake {
  method?: string;
  path?: string;
  /** In place of a good token. */
  headers?: Record<string, string>;
  /** JSON of it is sent; a text as it is. */
  body?: unknown;
}

const send = ({ method = 'POST', path = messages, headers, body }: Mistake) =>
  app.call({
    method,
    path,
    uid: headers ? undefined : uid,
    headers: headers ?? {},
    body: method === 'GET' || typeof body === 'string' ? (body as string) : JSON.stringify(body),
  });

const errorIn = ({ text: json }: WireAnswer) => JSON.parse(json).error;

/** What people get wrong in their first hour, and what the answer has to say. */
const mistakes: [what: string, mistake: Mistake, status: number, reason: string, told: string][] = [
  ['no sign-in', { headers: {} }, 401, 'ID_TOKEN_MISSING', 'There is no header `Authorization`.'],
  [
    'a token without Bearer',
    { headers: { authorization: 'eyJ' } },
    401,
    'ID_TOKEN_MISSING',
    'is no `Bearer` and one token',
  ],
  ['single quotes', { body: "{'message': 1}" }, 400, 'BAD_JSON', 'Look at line 1, column 2.'],
  ['a body that breaks off', { body: '{"message":' }, 400, 'BAD_JSON', 'It ends too early.'],
  ['no body', { body: '' }, 400, 'BAD_FIELD', 'A message is {"id":"<UUID>"'],
  ['the form of OpenAI', { body: { messages: [] } }, 400, 'BAD_FIELD', 'Did you mean `message`?'],
  [
    'a field that is like no other',
    { body: { message: message({ banana: 1 }) } },
    400,
    'BAD_FIELD',
    '`message.banana` is not a field of this request. Remove it; there are `id`, `parts`',
  ],
  [
    'an id that is none',
    { body: { message: message({ id: '1' }) } },
    400,
    'BAD_FIELD',
    '`crypto.randomUUID()`',
  ],
  [
    'a wrong enum',
    { body: { message: message(), onBusy: 'wait' } },
    400,
    'BAD_FIELD',
    'reject, queue, interrupt',
  ],
  [
    'a conversation’s name',
    { path: '/v1/conversations/my-chat/messages', body: { message: message() } },
    400,
    'BAD_FIELD',
    'must be a UUID, version 4 or 7',
  ],
  [
    'a turn by its number',
    { method: 'GET', path: `${conversation}/turns/1` },
    404,
    'NOT_FOUND',
    'A turnId looks like t_7',
  ],
  [
    'a misspelt model',
    { path: '/v1/conversations', body: { model: 'gemini-3.8-flsh' } },
    400,
    'MODEL_UNKNOWN',
    'house-model',
  ],
  [
    'an address that nobody serves',
    { method: 'GET', path: '/wp-login.php', headers: {} },
    404,
    'ROUTE_NOT_FOUND',
    'GET /v1/openapi.json lists all addresses',
  ],
  [
    'a guess at the chat',
    { path: '/api/chat', headers: {} },
    404,
    'ROUTE_NOT_FOUND',
    '/v1/openai/chat/completions',
  ],
  [
    'a method that an address does not take',
    { method: 'PUT', path: conversation, headers: {} },
    405,
    'METHOD_NOT_ALLOWED',
    'This address takes GET, PATCH, DELETE only.',
  ],
];

test.each(mistakes)(
  'the answer to a first mistake, %s, says what to do',
  async (...[, mistake, status, reason, told]) => {
    const answer = await send(mistake);

    const { message: sentence, details } = errorIn(answer);
    expect({ status: answer.status, reason: details[0].reason }).toEqual({ status, reason });
    expect(sentence).toContain(told);
    expect(answer.headers.get('allow')).toBe(status === 405 ? 'GET, PATCH, DELETE' : null);
  },
);

test.each(['/v1/openai/chat/completions', '/v1/openai/responses', '/v1/responses'])(
  'a method that %s does not take is refused in OpenAI’s form',
  async (path) => {
    const answer = await send({ method: 'PUT', path, headers: {} });

    expect(answer.status).toBe(405);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: 'METHOD_NOT_ALLOWED', type: 'invalid_request_error' },
    });
  },
);

const HELP = 'type.googleapis.com/google.rpc.Help';

/** The address of the page that explains an error. */
const linkIn = (error: { details: { '@type': string; links?: { url: string }[] }[] }) =>
  new URL(error.details.find((detail) => detail['@type'] === HELP)?.links?.[0]?.url ?? '');

const data = { conversationId: randomUUID(), message: { id: 'no uuid', parts: [] } };

test.each<[string, Mistake]>([
  ['our own wire', { method: 'GET', path: conversation }],
  ['a request without a sign-in', { method: 'GET', path: conversation, headers: {} }],
  ['the façade for the AI SDK', { path: '/v1/ai-sdk/chat', body: { id: 'c', messages: [] } }],
  ['the façade for OpenAI’s clients', { path: '/v1/openai/chat/completions', body: {} }],
  ['a callable', { path: '/callable/chat', body: { data } }],
  ['an unknown path', { method: 'GET', path: '/v2/nothing' }],
])('an error of %s links to an explanation that needs no sign-in', async (_, request) => {
  const error = errorIn(await send(request));
  const { origin, pathname } = linkIn(error);

  const page = await app.call({ method: 'GET', path: pathname, uid: undefined });

  expect([origin, page.status]).toEqual(['http://recap.test', 200]);
  expect(JSON.parse(page.text)).toMatchObject({
    reason: error.details[0].reason,
    meaning: expect.stringMatching(/\w/),
  });
});

test.each([
  [{}, { 'x-forwarded-proto': 'https' }, 'https://recap.test'],
  [{ PUBLIC_URL: 'https://chat.example.com/api/' }, {}, 'https://chat.example.com/api'],
])('a link leads where clients reach the service: %o, %o', async (settings, headers, base) => {
  const deployed = createWireApp({}, settings);

  const answer = await deployed.call({ method: 'GET', path: conversation, uid, headers });

  expect(linkIn(errorIn(answer)).href).toBe(`${base}/v1/errors/CONVERSATION_NOT_FOUND`);
});

test('every reason that an error may have is explained, and no other', async () => {
  const all = await app.call({ method: 'GET', path: '/v1/errors', uid: undefined });
  const none = await app.call({ method: 'GET', path: '/v1/errors/NOT_A_REASON', uid });

  const reasons = JSON.parse(all.text).reasons.map(({ reason }: { reason: string }) => reason);
  expect(reasons).toEqual(Object.keys(errorReasons).toSorted());
  expect(none.status).toBe(404);
  expect(none.text).toContain('GET /v1/errors lists all of them');
});

describe('a model that somebody names', () => {
  const create = (model: string, id: string = randomUUID()) =>
    send({ path: '/v1/conversations', body: { id, model } });
  const patch = (id: string, body: object) =>
    send({ method: 'PATCH', path: `/v1/conversations/${id}`, body });

  test('a conversation whose model is not known any more can be changed all the same, but to no other unknown one', async () => {
    const id = randomUUID();
    await create('gemini-3.8-flash', id);
    await app.dependencies.store.commit([
      {
        op: 'update',
        path: conversationPath(id),
        fields: { model: 'gone-model' },
        guard: { exists: true },
      },
    ]);

    const kept = await patch(id, { model: 'gone-model', title: 'Trip' });
    const refused = await patch(id, { model: 'gpt-9' });

    expect(kept.status).toBe(200);
    expect(errorIn(refused)).toMatchObject({ details: [{ reason: 'MODEL_UNKNOWN' }, {}] });
  });

  const project = { GOOGLE_CLOUD_PROJECT: 'demo-recap' };

  test.each(['MODEL', 'QUICK_MODEL', 'COMPRESSOR_MODEL'])(
    'a start with a misspelt %s names it, known models, and how to make it known',
    (variable) => {
      const start = () => parseConfig({ ...project, [variable]: 'gemini-3.5-flahs' });

      expect(start).toThrow(
        `${variable}: gemini-3.5-flahs is no model that is known here. Known are `,
      );
      expect(start).toThrow('MODEL_WINDOWS');
    },
  );
});
