import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { errorOfSdk } from '#test/support/wire/openai.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';

const app = createWireApp();
const id = randomUUID();

const answerOf = async (method: string, path: string) => {
  const { status, text, headers } = await app.call({ method, path, uid: undefined });
  return { status, error: JSON.parse(text).error, headers };
};

describe('an address that is not served', () => {
  test.each([
    ['POST', '/v1/chat/completions', 'POST /v1/openai/chat/completions'],
    ['POST', '/chat/completions', 'POST /v1/openai/chat/completions'],
    ['GET', '/v1/models', 'GET /v1/openai/models'],
    ['POST', '/conversations', 'POST /v1/conversations'],
    ['POST', '/v1/conversations/', 'POST /v1/conversations'],
    ['POST', '/v1//conversations', 'POST /v1/conversations'],
    ['GET', '/v2/conversations', 'GET /v1/conversations'],
    ['POST', '/v1/messages', 'POST /v1/conversations/{conversationId}/messages'],
    ['POST', `/v1/conversations/${id}/message`, 'POST /v1/conversations/{conversationId}/messages'],
    ['POST', `/v1/conversations/${id}/compact`, 'POST /v1/conversations/{conversationId}:compact'],
    [
      'POST',
      `/v1/conversations/${id}/messages/m_1/regenerate`,
      'POST /v1/conversations/{conversationId}/messages/{messageId}:regenerate',
    ],
    ['GET', '/v1/users/me/memory', 'GET /v1/users/me/memories'],
  ])('%s %s is answered with 404 that names %s, without a sign-in', async (method, path, meant) => {
    const { status, error } = await answerOf(method, path);

    expect(status).toBe(404);
    expect(error.message).toContain(`Did you mean ${meant}?`);
    expect(error.details[0]).toMatchObject({ reason: 'ROUTE_NOT_FOUND' });
  });

  test.each(['/', '/v1', '/wp-login.php', `/${'a/'.repeat(100)}`, `/v1/${'x'.repeat(2_000)}`])(
    'an address like none of ours, %s, is told where all of them are',
    async (path) => {
      const { status, error } = await answerOf('GET', path);

      expect(status).toBe(404);
      expect(error.message).toContain('GET /v1/openapi.json lists all of them');
    },
  );

  test('an OpenAI SDK with a wrong base URL throws the right address', async () => {
    const client = new OpenAI({
      baseURL: 'http://recap.test/v1',
      apiKey: 'alice',
      fetch: async (url, init) => {
        const request = new Request(url, init);
        const { status, text, headers } = await app.call({
          method: request.method,
          path: new URL(request.url).pathname,
          uid: 'alice',
          body: await request.text(),
        });
        return new Response(text, { status, headers });
      },
    });
    const messages = [{ role: 'user' as const, content: 'Hi' }];

    const error = await errorOfSdk(client.chat.completions.create({ model: 'recap', messages }));

    expect(error.code).toBe('ROUTE_NOT_FOUND');
    expect(error.message).toContain('Did you mean POST /v1/openai/chat/completions?');
  });

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

  test('an unknown address that is read is never answered with one that deletes', async () => {
    const { error } = await answerOf('GET', `/v1/conversations/${id}/messages:stream`);

    expect(error.message).not.toContain('DELETE');
  });

  test.each([
    ['POST', `/v1/conversations/${id}`, 'POST /v1/conversations/{conversationId}/messages'],
    [
      'GET',
      `/v1/conversations/${id}/messages/m_1`,
      'GET /v1/conversations/{conversationId}/messages',
    ],
    ['POST', `/v1/conversations/${id}/pins`, 'PUT /v1/conversations/{conversationId}/pins/{pinId}'],
  ])('%s %s is refused with the call that is meant', async (method, path, meant) => {
    const { status, error } = await answerOf(method, path);

    expect(status).toBe(405);
    expect(error.message).toContain(meant);
  });

  test('a method that an address does not take is answered with those that it takes', async () => {
    const { status, error, headers } = await answerOf('PUT', `/v1/conversations/${id}`);

    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('GET, PATCH, DELETE');
    expect(error.message).toBe('This address takes GET, PATCH, DELETE only.');
  });
});
