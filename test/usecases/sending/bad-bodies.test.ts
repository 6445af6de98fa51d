import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { JSON_DEPTH_MAX } from '#shared/wire/limits.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { expectClean } from '#test/support/chat/http-answers.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const CANARY = 'canary-7f3a';

const conversation = () => `/v1/conversations/${randomUUID()}`;
const message = (parts: unknown, more: object = {}) => ({
  message: { id: randomUUID(), parts, ...more },
});
const text = (value: string) => [{ type: 'text', text: value }];

describe('a bad body', () => {
  const messages = () => `${conversation()}/messages`;
  const deep = '['.repeat(JSON_DEPTH_MAX + 1) + ']'.repeat(JSON_DEPTH_MAX + 1);
  test.each([
    ['malformed JSON', messages(), `{"message": ${CANARY}`, 400, 'BAD_JSON', 'JSON'],
    ['JSON cut off', messages(), `{"message":{"id":"${CANARY}`, 400, 'BAD_JSON', 'JSON'],
    ['single quotes', messages(), "{\n'message': 1}", 400, 'BAD_JSON', 'at line 2, column 1'],
    ['a JSON string', messages(), JSON.stringify(CANARY), 400, 'BAD_FIELD', 'object'],
    ['a JSON array', messages(), [], 400, 'BAD_FIELD', 'object'],
    ['null', messages(), null, 400, 'BAD_FIELD', 'object'],
    ['no body', messages(), '', 400, 'BAD_FIELD', '`message`'],
    ['deep JSON', messages(), `{"message":${deep}}`, 400, 'BAD_JSON', String(JSON_DEPTH_MAX)],
    ['200,000 levels', messages(), '['.repeat(200_000), 400, 'BAD_JSON', 'nested'],
    ['__proto__', messages(), '{"__proto__":{"x":1}}', 400, 'BAD_JSON', '`__proto__`'],
    [
      '__proto__ below, escaped',
      '/v1/conversations',
      '{"metadata":{"\\u005f_proto__":"x"}}',
      400,
      'BAD_JSON',
      '`__proto__`',
    ],
    [
      'an unknown field',
      messages(),
      { ...message(text('a')), model: 'm' },
      400,
      'BAD_FIELD',
      '`model`',
    ],
    [
      'an unknown field of the message',
      messages(),
      message(text('a'), { role: 'system' }),
      400,
      'BAD_FIELD',
      '`message.role`',
    ],
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
      'a part of another type',
      messages(),
      message([{ type: 'functionCall', name: 'f' }]),
      400,
      'BAD_PART',
      '`message.parts[0].type`',
    ],
    ['no parts', messages(), message([]), 400, 'BAD_PART', 'at least 1'],
    ['an empty text', messages(), message(text('')), 400, 'BAD_PART', 'at least 1'],
    [
      'half of a surrogate pair',
      messages(),
      message(text('a\uD83D')),
      400,
      'BAD_PART',
      'surrogate',
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
      'a file that is not base64',
      messages(),
      message([{ type: 'file', mediaType: 'image/png', data: '%%' }]),
      400,
      'BAD_PART',
      'data',
    ],
    [
      'a file in a bucket',
      messages(),
      message([{ type: 'file', mediaType: 'image/png', url: 'gs://b/o' }]),
      400,
      'BAD_PART',
      'https',
    ],
    [
      'no message id',
      messages(),
      { message: { parts: text('a') } },
      400,
      'BAD_FIELD',
      '`message.id` is missing',
    ],
    [
      'a message id that is no UUID',
      messages(),
      { message: { id: '../x', parts: text('a') } },
      400,
      'BAD_FIELD',
      'UUID',
    ],
    [
      'a conversation id that is no UUID',
      '/v1/conversations/c_1/messages',
      message(text('a')),
      400,
      'BAD_FIELD',
      'UUID',
    ],
    [
      'a metadata value of a wrong type',
      '/v1/conversations',
      { metadata: { a: 1 } },
      400,
      'BAD_FIELD',
      '`metadata.a`',
    ],
    [
      'a reserved metadata key',
      '/v1/conversations',
      { metadata: { __a__: 'x' } },
      400,
      'BAD_FIELD',
      'metadata',
    ],
    ['an owner', '/v1/conversations', { ownerUid: 'bob' }, 400, 'BAD_FIELD', '`ownerUid`'],
    ['a generation', '/v1/conversations', { generation: 7 }, 400, 'BAD_FIELD', '`generation`'],
  ])('a bad body with %s is refused', async (...[, path, body, code, reason, named]) => {
    const response = await chat.call(path, { method: 'POST', body });

    const error = await errorOf(response);
    expectClean(error);
    expect(error).toMatchObject({ http: code, status: 'INVALID_ARGUMENT', reason });
    expect(error.message).toContain(named);
    expect(error.text).not.toContain(CANARY);
  });

  test('a body of multipart/form-data is refused with the Content-Type to send', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const response = await chat.call(messages(), { method: 'POST', body: '--x--', headers });

    const error = await errorOf(response);
    expect(error).toMatchObject({ http: 400, reason: 'BAD_JSON' });
    expect(error.message).toContain('The Content-Type multipart/form-data is not taken.');
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
    ['a field `content`', { content: 'hi' }, FORM],
    ['nothing in it', '', FORM],
    ['`message.text`', { message: { id, text: 'hi' } }, PARTS_FORM],
    ['`message.content`', { message: { id, content: 'hi' } }, PARTS_FORM],
    ['a text as parts', { message: { id, parts: 'hi' } }, PARTS_FORM],
    ['texts as parts', { message: { id, parts: ['hi'] } }, '{"type":"text","text":"…"}'],
    ['no id', { message: { parts: text('a') } }, 'give a UUID that the app draws'],
    ['a number as id', { message: { id: 7, parts: text('a') } }, 'a UUID that the app draws'],
    ['a data: URL in `data`', file({ data: 'data:image/png;base64,AAAA' }), 'base64 alone'],
    ['an address in `data`', file({ data: 'https://example.com/a.png' }), 'goes into `url`'],
    ['a data: URL in `url`', file({ url: 'data:image/png;base64,AAAA' }), 'goes into `data`'],
    [
      'an upload that is no UUID',
      { message: { id, parts: [{ type: 'file', uploadId: 'up-1' }] } },
      'a UUID from POST /v1/uploads',
    ],
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
      'a part, counted in bytes',
      { parts: text('한'.repeat(11_000)) },
      'message.parts[0].text',
      '32768',
      '33000',
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
