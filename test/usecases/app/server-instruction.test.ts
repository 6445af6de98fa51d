import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import type { RecapApp } from '#functions/app.ts';
import { CLIENT_WRITABLE_FIELDS } from '#functions/config/environment.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { textAnswer } from '#test/fakes/scripted-streamer.ts';
import { startLocalApp } from '#test/support/chat/local-app.ts';
import { serverClaims, startTokenKeys } from '#test/support/token-keys.ts';

/* What a server of the app says to the model of one conversation, over HTTP. */

const AUDIENCE = 'https://chat.example.com';
const ACCOUNT = 'backend@my-app.iam.gserviceaccount.com';
const SAID = 'This is about order 4711, which left on Monday.';

async function startWithServer(settings: Record<string, string> = {}, app?: RecapApp) {
  const keys = await startTokenKeys();
  onTestFinished(() => keys.close());
  const { call, ...started } = await startLocalApp({
    app,
    answers: Array.from({ length: 40 }, (_, turn) =>
      textAnswer(`Fine. ${'It is a gift and should look like one. '.repeat(10)}`, {
        promptTokens: 300 + 110 * turn,
        cachedTokens: 0,
        outputTokens: 100,
        thoughtsTokens: 0,
      }),
    ),
    settings: {
      PUSH_TOKEN_KEYS_URL: keys.url,
      ADMIN_SERVICE_ACCOUNTS: ACCOUNT,
      ADMIN_AUDIENCE: AUDIENCE,
      SYSTEM_INSTRUCTION: 'Be kind.',
      ...settings,
    },
  });
  const callWith =
    (headers: Record<string, string> = {}) =>
    async (method: string, path: string, body?: object) => {
      const response = await call(path, { method, headers, body });
      return { status: response.status, text: await response.text() };
    };
  const token = await keys.sign(serverClaims(AUDIENCE, ACCOUNT));
  const server = callWith({ authorization: `Bearer ${token}`, 'x-recap-on-behalf-of': 'ada' });
  const instructions = () => started.requests.map(({ systemInstruction }) => systemInstruction);
  return { ...started, user: callWith(), server, instructions };
}

test('a server’s instruction stands behind the app’s in every prompt, through compactions, until the server takes it away', async () => {
  const { host, server, send, instructions } = await startWithServer({ THRESHOLD_TOKENS: '1000' });
  const id = randomUUID();
  await send(id, 'Hello');

  const set = await server('PATCH', `/${id}`, { serverInstruction: SAID });
  for (let turn = 1; turn <= 16; turn++) await send(id, `Question ${turn}?`);
  await host.bus.idle();
  const context = await server('GET', `/${id}/context`);
  await send(id, 'And now?');
  await server('PATCH', `/${id}?updateMask=serverInstruction`, {});
  await send(id, 'And at last?');

  expect(set.status).toBe(200);
  expect(JSON.parse(context.text).generation).toBeGreaterThan(0);
  expect(JSON.parse(context.text).items[0]).toMatchObject({
    kind: 'system',
    content: `Be kind.\n\n${SAID}`,
  });
  const told = instructions();
  expect([told[0], told.at(-1)]).toEqual(['Be kind.', 'Be kind.']);
  expect(new Set(told.slice(1, -1))).toEqual(new Set([`Be kind.\n\n${SAID}`]));
});

test('a server’s instruction stands behind the one that the app makes of its user at every turn', async () => {
  const { server, send, instructions } = await startWithServer(
    {},
    { systemInstruction: ({ user }) => `You talk to ${user.uid}.` },
  );
  const id = randomUUID();

  const created = await server('POST', '', { id, serverInstruction: SAID });
  await send(id, 'Hello');

  expect(created.status).toBe(201);
  expect(instructions()).toEqual([`You talk to ada.\n\n${SAID}`]);
});

test('no user writes or takes away what a server says, whatever CLIENT_WRITABLE lists', async () => {
  const { user, server, send, instructions } = await startWithServer({
    CLIENT_WRITABLE: CLIENT_WRITABLE_FIELDS.join(','),
  });
  const id = randomUUID();
  await server('POST', '', { id, serverInstruction: SAID });

  const refused = [
    await user('PATCH', `/${id}`, { serverInstruction: 'Obey me.' }),
    await user('PATCH', `/${id}?updateMask=serverInstruction`, {}),
    await user('POST', '', { id: randomUUID(), serverInstruction: 'Obey me.' }),
  ];
  await user('PATCH', `/${id}`, { systemInstruction: 'Be short.' });
  await send(id, 'Hello');

  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
  for (const { text } of refused) {
    expect(text).toContain('FIELD_NOT_WRITABLE');
    expect(text).toContain('ADMIN_SERVICE_ACCOUNTS');
  }
  expect(instructions()).toEqual([`Be short.\n\n${SAID}`]);
});

test('a server writes what CLIENT_WRITABLE keeps from users, within the bounds of users', async () => {
  const { user, server } = await startWithServer({ CLIENT_WRITABLE: 'onBusy' });
  const id = randomUUID();
  const fields = { systemInstruction: 'Be short.', settings: { compaction: 'manual' } };

  const byUser = await user('POST', '', { id, ...fields });
  const byServer = await server('POST', '', { id, ...fields });
  const tooLong = await server('PATCH', `/${id}`, { serverInstruction: 'x'.repeat(16_001) });
  const tooHigh = await server('PATCH', `/${id}`, { settings: { thresholdTokens: 900_000 } });

  expect([byUser.status, byServer.status]).toEqual([400, 201]);
  expect(tooLong.text).toContain('BAD_FIELD');
  expect(tooHigh.text).toContain('THRESHOLD_TOO_HIGH');
});

test('what a server says goes along into a fork, is in no list or export, and is gone with the conversation', async () => {
  const { host, user, server, send, instructions } = await startWithServer();
  const [id, fork] = [randomUUID(), randomUUID()];
  await server('POST', '', { id, serverInstruction: SAID });
  await send(id, 'Hello');

  await user('POST', `/${id}:fork`, { id: fork, messageId: 'm_1' });
  await send(fork, 'Hello again');
  const shown = [
    await user('GET', `/${id}`),
    await user('GET', ''),
    await user('GET', `/${id}:export?format=jsonl`),
  ];
  const shownToOwner = await user('GET', `/${id}/context`);
  await user('DELETE', `/${id}?permanent=true`);
  await host.bus.idle();

  expect(instructions().at(-1)).toBe(`Be kind.\n\n${SAID}`);
  for (const { status, text } of shown) {
    expect(status).toBe(200);
    expect(text).not.toContain('4711');
  }
  expect(shownToOwner.text).toContain('4711');
  const [erased] = await host.store.get([conversationPath(id)]);
  expect(JSON.stringify(erased?.fields)).not.toContain('4711');
});
