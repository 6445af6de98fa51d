import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { signInAnonymously } from '#infra/smoke/sign-in.ts';
import { openForTest } from '../support/open-for-test.ts';

/** Google's sign-in, as far as it is used: answers everything with one body. */
const signUpServer = async (status: number, body: object) => {
  const asked: string[] = [];
  const { url } = await openForTest(
    createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  return { url, asked };
};

test('the smoke check signs in a new anonymous user with the project’s key', async () => {
  const { url, asked } = await signUpServer(200, { idToken: 'a-token', localId: 'u1' });

  const token = await signInAnonymously('a key', url);

  expect(token).toBe('a-token');
  expect(asked).toEqual(['/?key=a%20key']);
});

test.each([
  ['ADMIN_ONLY_OPERATION', 'Turn on the provider Anonymous'],
  ['API key not valid. Please pass a valid API key.', 'web API key'],
])('the smoke check explains a refused sign-in (%s) and its fix', async (message, remedy) => {
  const { url } = await signUpServer(400, { error: { message } });

  await expect(signInAnonymously('k', url)).rejects.toThrow(remedy);
});

test('the smoke check reports an unreachable sign-in server', async () => {
  await expect(signInAnonymously('k', 'http://127.0.0.1:9')).rejects.toThrow(/no answer/);
});
