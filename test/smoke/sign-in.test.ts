import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { parseSmokeArguments } from '#infra/smoke/smoke-arguments.ts';
import { signInAnonymously } from '#infra/smoke/smoke-client.ts';
import { openForTest } from '../support/open-for-test.ts';

const url = 'https://recap-chat.example.com';

test('the smoke check takes its token from the shell, unless a new user is asked for or the stack is local', () => {
  const shell = { RECAP_TOKEN: 't' };

  expect(parseSmokeArguments(['--url', url], shell)).toMatchObject({ token: 't' });
  expect(parseSmokeArguments(['--url', url, '--api-key', 'k'], shell)).toMatchObject({
    token: undefined,
    apiKey: 'k',
  });
  expect(parseSmokeArguments(['--url', 'http://localhost:8080'], {})).toMatchObject({
    token: undefined,
  });
});

/** Google's sign-in, as far as it is used: answers everything with one body. */
const signUpServer = async (status: number, body: object) => {
  const asked: string[] = [];
  const server = await openForTest(
    createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  return { url: server.url, asked };
};

test('the smoke check signs in a new anonymous user with the project’s key', async () => {
  const server = await signUpServer(200, { idToken: 'a-token', localId: 'u1' });

  expect(await signInAnonymously('a key', server.url)).toBe('a-token');
  expect(server.asked).toEqual(['/?key=a%20key']);
});

test.each([
  ['ADMIN_ONLY_OPERATION', 'Turn on the provider Anonymous'],
  ['API key not valid. Please pass a valid API key.', 'web API key'],
])('the smoke check explains a refused sign-in (%s) and its fix', async (message, remedy) => {
  const server = await signUpServer(400, { error: { message } });

  await expect(signInAnonymously('k', server.url)).rejects.toThrow(remedy);
});
