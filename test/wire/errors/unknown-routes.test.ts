import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createWireApp } from '#test/support/chat/wire-app.ts';

const app = createWireApp();
const id = randomUUID();

const answerOf = async (method: string, path: string) => {
  const { status, text, headers } = await app.call({ method, path, uid: undefined });
  return { status, error: JSON.parse(text).error, headers };
};

describe('an address that is not served', () => {
  test.each(['/', '/wp-login.php', '/v1/chat/completions', `/v1/${'x'.repeat(2_000)}`])(
    'an address like %s is told where all of them are, without a sign-in',
    async (path) => {
      const { status, error } = await answerOf('GET', path);

      expect(status).toBe(404);
      expect(error.message).toContain('GET /v1/openapi.json lists all addresses');
      expect(error.details[0]).toMatchObject({ reason: 'ROUTE_NOT_FOUND' });
    },
  );

  test.each(['/chat', '/v1/chat', '/api/chat'])(
    'a guess at the chat, %s, is told the chat address of every protocol',
    async (path) => {
      const { status, error } = await answerOf('POST', path);

      expect(status).toBe(404);
      for (const address of [
        'POST /v1/conversations/{conversationId}/messages',
        '/v1/ai-sdk/chat',
        '/v1/openai/chat/completions',
        '/callable/chat',
      ])
        expect(error.message).toContain(address);
    },
  );

  test('two slashes in a row in an address are named', async () => {
    const { error } = await answerOf('POST', '/v1//conversations');

    expect(error.message).toContain('it has two slashes in a row');
  });

  test('a method that an address does not take is answered with those that it takes', async () => {
    const { status, error, headers } = await answerOf('PUT', `/v1/conversations/${id}`);

    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('GET, PATCH, DELETE');
    expect(error.message).toBe('This address takes GET, PATCH, DELETE only.');
  });
});
