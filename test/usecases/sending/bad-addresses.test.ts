import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { expectClean } from '#test/support/chat/http-answers.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

describe('a bad address', () => {
  test.each([
    ['an unknown path', 'GET', '/v1/nothing', 404, 'ROUTE_NOT_FOUND'],
    ['the root', 'GET', '/', 404, 'ROUTE_NOT_FOUND'],
    [
      'an unknown verb',
      'POST',
      `/v1/conversations/${randomUUID()}:explode`,
      404,
      'ROUTE_NOT_FOUND',
    ],
    ['a wrong method', 'PUT', '/v1/conversations', 405, 'METHOD_NOT_ALLOWED'],
    [
      'GET on a verb',
      'GET',
      `/v1/conversations/${randomUUID()}:compact`,
      405,
      'METHOD_NOT_ALLOWED',
    ],
    ['an unknown parameter', 'GET', '/v1/conversations?pagesize=3', 400, 'BAD_FIELD'],
    ['a parameter given twice', 'GET', '/v1/conversations?pageSize=3&pageSize=4', 400, 'BAD_FIELD'],
    ['a negative page size', 'GET', '/v1/conversations?pageSize=-1', 400, 'BAD_FIELD'],
    ['__proto__ as a parameter', 'GET', '/v1/conversations?__proto__=1', 400, 'BAD_FIELD'],
    [
      'an id with a slash in it',
      'GET',
      `/v1/conversations/${randomUUID()}%2Fturns%2F1`,
      404,
      'CONVERSATION_NOT_FOUND',
    ],
    [
      'a verb behind an encoded colon',
      'GET',
      `/v1/conversations/${randomUUID()}%3Acompact`,
      405,
      'METHOD_NOT_ALLOWED',
    ],
    ['an id that cannot be decoded', 'GET', '/v1/conversations/%E0%A4%A', 404, 'ROUTE_NOT_FOUND'],
    [
      'a turn id that cannot be',
      'GET',
      `/v1/conversations/${randomUUID()}/turns/t_0`,
      404,
      'NOT_FOUND',
    ],
  ])('a bad address: %s is answered in JSON', async (...[, method, path, code, reason]) => {
    const response = await chat.call(path, { method });

    const error = await errorOf(response);
    expectClean(error);
    expect(error).toMatchObject({ http: code, reason });
  });

  test.each([
    ['turns/7', 'GET', 't_7'],
    ['messages/1', 'DELETE', 'm_7'],
  ])('an id of a wrong form in %s is refused with its form', async (...[path, method, form]) => {
    const response = await chat.call(`/v1/conversations/${randomUUID()}/${path}`, { method });

    const error = await errorOf(response);
    expect(error).toMatchObject({ http: 404, reason: 'NOT_FOUND' });
    expect(error.message).toContain(form);
  });

  test('a wrong method is answered with the allowed ones', async () => {
    const response = await chat.call('/v1/conversations', { method: 'PUT' });

    expect(response.headers.get('allow')).toBe('POST, GET');
  });

  test('an unreadable Host header is answered in JSON', async () => {
    const socket = connect(Number(new URL(chat.url).port), '127.0.0.1');
    socket.end('GET /v1/health HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    let answer = '';
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
    await once(socket, 'close');

    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toMatch(/<html|\bat .*\.(js|ts):\d+/i);
  });
});
