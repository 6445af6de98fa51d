import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { errorOf, startChatServer, expectClean } from '#test/support/chat/chat-server.ts';
import { createIdTokenVerifier } from '#functions/adapters/tokens.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

test.each([
  ['an unknown verb', 'POST', `/v1/conversations/${randomUUID()}:explode`, 404, 'ROUTE_NOT_FOUND'],
  ['a negative page size', 'GET', '/v1/conversations?pageSize=-1', 400, 'BAD_FIELD'],
  [
    'an id with a slash in it',
    'GET',
    `/v1/conversations/${randomUUID()}%2Fturns%2F1`,
    404,
    'CONVERSATION_NOT_FOUND',
  ],
  ['an id that cannot be decoded', 'GET', '/v1/conversations/%E0%A4%A', 404, 'ROUTE_NOT_FOUND'],
])('a bad address: %s is answered in JSON', async (...[, method, path, code, reason]) => {
  const response = await chat.call(path, { method });

  const error = await errorOf(response);
  expectClean(error);
  expect(error).toMatchObject({ http: code, reason });
});

const CANARY = 'canary-7f3a';

const conversation = () => `/v1/conversations/${randomUUID()}`;
const message = (parts: unknown, more: object = {}) => ({
  message: { id: randomUUID(), parts, ...more },
});
const text = (value: string) => [{ type: 'text', text: value }];

describe('a bad body', () => {
  const messages = () => `${conversation()}/messages`;
  test.each([
    ['malformed JSON', messages(), `{"message": ${CANARY}`, 400, 'BAD_JSON', 'JSON'],
    ['a JSON array', messages(), [], 400, 'BAD_FIELD', 'object'],
    [
      'an unknown field of a part',
      messages(),
      message([{ type: 'text', text: 'a', thought: true }]),
      400,
      'BAD_PART',
      '`message.parts[0].thought`',
    ],
    [
      'a number for text',
      messages(),
      message([{ type: 'text', text: 7 }]),
      400,
      'BAD_PART',
      '`message.parts[0].text` must be a text',
    ],
    [
      'a file without content',
      messages(),
      message([{ type: 'file', mediaType: 'image/png' }]),
      400,
      'BAD_PART',
      'data, url and uploadId',
    ],
    [
      'a file in a bucket',
      messages(),
      message([{ type: 'file', mediaType: 'image/png', url: 'gs://b/o' }]),
      400,
      'BAD_PART',
      'https',
    ],
  ])('a bad body with %s is refused', async (...[, path, body, code, reason, named]) => {
    const response = await chat.call(path, { method: 'POST', body });

    const error = await errorOf(response);
    expectClean(error);
    expect(error).toMatchObject({ http: code, status: 'INVALID_ARGUMENT', reason });
    expect(error.message).toContain(named);
    expect(error.text).not.toContain(CANARY);
  });

  test('a body of multipart/form-data is refused with the way that files take', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const response = await chat.call(messages(), { method: 'POST', body: '--x--', headers });

    const error = await errorOf(response);
    expect(error).toMatchObject({ http: 400, reason: 'BAD_JSON' });
    expect(error.message).toContain('files go through POST /v1/uploads');
  });

  const FORM = '{"id":"<UUID>","parts":[{"type":"text","text":"…"}]}';
  const PARTS_FORM = '[{"type":"text","text":"…"}]';
  const id = randomUUID();
  const file = (content: object) => ({
    message: { id, parts: [{ type: 'file', mediaType: 'image/png', ...content }] },
  });
  test.each<[string, unknown, string]>([
    ['a text as message', { message: 'hi' }, FORM],
    ['a field `text`', { text: 'hi' }, FORM],
    ['`message.text`', { message: { id, text: 'hi' } }, PARTS_FORM],
    ['texts as parts', { message: { id, parts: ['hi'] } }, '{"type":"text","text":"…"}'],
    ['no id', { message: { parts: text('a') } }, FORM],
    ['a data: URL in `data`', file({ data: 'data:image/png;base64,AAAA' }), 'base64 alone'],
    ['a data: URL in `url`', file({ url: 'data:image/png;base64,AAAA' }), 'goes into `data`'],
    ['too large a picture', file({ data: 'A'.repeat(400_000) }), 'POST /v1/uploads'],
    [
      'a picture above the limit of a body',
      file({ data: 'A'.repeat(1_600_000) }),
      'POST /v1/uploads',
    ],
    [
      'a part of the type image_url',
      { message: { id, parts: [{ type: 'image_url', image_url: { url: 'x' } }] } },
      '{"type":"file","mediaType":"image/png","data":"<base64>"}',
    ],
  ])('a message body with %s is refused with the form to send', async (...[, body, form]) => {
    const response = await chat.call(messages(), { body });

    const error = await errorOf(response);
    expect(error.status).toBe('INVALID_ARGUMENT');
    expect(error.message).toContain(form);
  });

  test.each([
    [
      'a part',
      { parts: text('x'.repeat(32 * 1024 + 1)) },
      'message.parts[0].text',
      '32768',
      '32769',
    ],
    [
      'a message',
      { parts: Array.from({ length: 9 }, () => text('x'.repeat(32_000))[0]) },
      'message.parts',
      '262144',
      '288000',
    ],
  ])(
    'a body with %s that is too long is refused with size and limit',
    async (...[, { parts }, field, limit, size]) => {
      const response = await chat.call(`${conversation()}/messages`, { body: message(parts) });

      const error = await errorOf(response);
      expect(error).toMatchObject({ http: 400, reason: 'TEXT_TOO_LONG' });
      expect(error.metadata).toEqual({ field, limitBytes: limit, sizeBytes: size });
      expect(error.message).toContain(limit);
    },
  );
});

test('health needs no ID token', async () => {
  const response = await chat.call('/v1/health', { uid: null });

  expect(await response.json()).toEqual({ status: 'ok' });
});

describe('the ID token verifier', () => {
  const settings = {
    GOOGLE_CLOUD_PROJECT: 'demo-p',
    ID_TOKEN_KEYS_URL: 'http://127.0.0.1:9/keys',
    allowUnsignedIdTokens: true,
  };

  test('the verifier accepts unsigned tokens where configured, and still checks their claims', async () => {
    const verifier = createIdTokenVerifier(settings);
    const good = chat.keys.unsigned(idTokenClaims('demo-p', 'alice'));
    const other = chat.keys.unsigned(idTokenClaims('demo-q', 'alice'));

    expect(await verifier.verify(good)).toMatchObject({ uid: 'alice', tier: 'signedIn' });
    await expect(verifier.verify(other)).rejects.toMatchObject({ reason: 'ID_TOKEN_INVALID' });
  });

  test('the verifier recognises an anonymous user', async () => {
    const token = chat.keys.unsigned(
      idTokenClaims('demo-p', 'guest', { firebase: { sign_in_provider: 'anonymous' } }),
    );

    const caller = await createIdTokenVerifier(settings).verify(token);

    expect(caller).toMatchObject({ uid: 'guest', tier: 'anonymous' });
  });
});
