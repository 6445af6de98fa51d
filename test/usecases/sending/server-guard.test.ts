import { afterEach, describe, expect, test } from 'vitest';
import { guardEveryServer } from '#functions/bootstrap/server-guard.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

describe('a process that guards every server', () => {
  test.each([
    ['malformed JSON', { method: 'POST', body: '{"a": canary-51' }, 'BAD_JSON'],
    [
      'a compressed body',
      { method: 'POST', body: '', headers: { 'content-encoding': 'gzip' } },
      'ENCODING_UNSUPPORTED',
    ],
    [
      'an unknown charset',
      {
        method: 'POST',
        body: '{"a":1}',
        headers: { 'content-type': 'application/json; charset=x' },
      },
      'BAD_FIELD',
    ],
  ])('a guarded server answers %s in JSON from the very first request', async (_, call, reason) => {
    guardEveryServer();
    chat = await startChatServer({ isGuarded: false });

    const error = await errorOf(await chat.call('/v1/conversations', call));

    expect(error.type).toContain('application/json');
    expect(error.reason).toBe(reason);
  });

  test('a guarded server answers an undecodable address in JSON', async () => {
    guardEveryServer();
    chat = await startChatServer({ isGuarded: false });

    const error = await errorOf(await chat.call('/v1/%ff'));

    expect(error).toMatchObject({ http: 404, reason: 'ROUTE_NOT_FOUND' });
  });
});

test('an unguarded server accepts bodies that the framework has read', async () => {
  chat = await startChatServer({ isGuarded: false });

  const response = await chat.call('/v1/conversations', { body: { title: 'Trip' } });

  expect(response.status).toBe(201);
  expect(await response.json()).toMatchObject({ title: 'Trip' });
});
