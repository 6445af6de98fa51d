import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { localServerToken } from '#functions/local-server.ts';
import { openForTest } from '#test/support/open-for-test.ts';

/** The metadata server of a function on Google Cloud. */
async function metadataServer() {
  const asked: { path: string | undefined; flavor: string | string[] | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url, flavor: request.headers['metadata-flavor'] });
    const token = {
      access_token: `access-${asked.length}`,
      expires_in: 3_600,
      token_type: 'Bearer',
    };
    const isIdentity = request.url?.includes('/identity?') === true;
    response
      .setHeader('metadata-flavor', 'Google')
      .setHeader('content-type', isIdentity ? 'text/plain' : 'application/json')
      .end(isIdentity ? localServerToken(new Date()) : JSON.stringify(token));
  });
  const { host } = await openForTest(server);
  return { asked, host };
}

const module = new URL('../../../../functions/src/adapters/access-tokens.ts', import.meta.url);

/** Prints what the program prints about `tokens`, in a process of its own. */
async function runWithTokens(host: string, program: string): Promise<string> {
  const conversation = `import { createAccessTokens, createIdTokens } from ${JSON.stringify(module.href)};
    const tokens = createAccessTokens();`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', conversation + program],
    {
      env: {
        GCE_METADATA_HOST: host,
        METADATA_SERVER_DETECTION: 'assume-present',
        HOME: '/nonexistent',
      },
    },
  );
  return stdout;
}

test('a refused access token is renewed once for all callers that used it', async () => {
  const { asked, host } = await metadataServer();
  const stdout = await runWithTokens(
    host,
    `
    const refused = await tokens.get();
    const renewed = await tokens.renew(refused);
    console.log(refused, renewed, await tokens.renew(refused), await tokens.get());
  `,
  );

  const [refused, renewed, ...later] = stdout.trim().split(' ');
  expect(renewed).not.toBe(refused);
  expect(later).toEqual([renewed, renewed]);
  expect(asked.filter(({ path }) => path?.includes('/default/token'))).toHaveLength(2);
});

test('an ID token of the account is made out to the audience, with its e-mail, and kept', async () => {
  const { asked, host } = await metadataServer();
  const stdout = await runWithTokens(
    host,
    `
    const authorize = createIdTokens('https://chat.example.com');
    const first = await authorize();
    console.log(first === (await authorize()), first);
  `,
  );

  expect(stdout).toMatch(/^true Bearer [\w-]+\.[\w-]+\./);
  const identities = asked.filter(({ path }) => path?.includes('/default/identity?'));
  expect(identities).toHaveLength(1);
  const query = new URL(identities[0]?.path ?? '', 'http://metadata').searchParams;
  // Only a full token tells the e-mail.
  expect([query.get('audience'), query.get('format')]).toEqual([
    'https://chat.example.com',
    'full',
  ]);
});
