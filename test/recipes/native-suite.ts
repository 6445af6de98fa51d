import type { AppError } from '#shared/lib/errors.ts';
import { daySpent, minuteSpent, refusingQuota } from '#test/support/chat/quotas.ts';
import { eventually } from '#test/support/eventually.ts';
import { overloaded } from '#test/support/model-down.ts';
import { appCheckClaims, idTokenClaims } from '#test/support/token-keys.ts';
import { startBrokenProxy, startLosingProxy } from '#test/support/wire/broken-proxy.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { describeChanges } from './native-changes.ts';
import type { NativeClient, OpenClient } from './native-client.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';

const PROJECT_NUMBER = '123456789012';

const message = (text: string) => ({
  conversationId: randomUUID(),
  messageId: randomUUID(),
  text,
});

/** A server of its own, and a client of alice's there. */
async function start(open: OpenClient, options: Parameters<typeof startWireServer>[0] = {}) {
  const server = await startWireServer(options);
  onTestFinished(() => server.stop());
  const token = (await server.authorization()).replace('Bearer ', '');
  return { server, token, client: open({ baseUrl: server.url, token }) };
}

/** A client that shows the first half of an answer. */
async function halfway(open: OpenClient) {
  const { server, client } = await start(open);
  const sent = message('Hello');
  const shown: string[] = [];
  const answer = client.send(sent, (text) => void shown.push(text));
  const call = await server.callOf('Hello');
  call.say('Half');
  await eventually('it shows a half', () => Promise.resolve(shown.includes('Half') || undefined));
  return { server, client, sent, shown, answer, call };
}

function describeAnswers(name: string, open: OpenClient) {
  test(`${name} shows an answer while it comes`, async () => {
    const { answer, call } = await halfway(open);

    call.say(' and whole.');
    call.end();

    expect(await answer).toMatchObject({
      text: 'Half and whole.',
      turnId: 't_1',
      finishReason: 'stop',
      isStopped: false,
      hasContext: true,
    });
  });

  test(`${name} continues after the last event when the connection is cut`, async () => {
    const { server, answer, call, shown } = await halfway(open);

    server.server.closeAllConnections();
    call.say(' and whole.');
    call.end();

    expect((await answer).text).toBe('Half and whole.');
    expect(shown.slice(shown.indexOf('Half')).every((text) => text.startsWith('Half'))).toBe(true);
    expect(server.callsOf('Hello')).toHaveLength(1);
  });

  test(`${name} goes on after a stream that ended in good order before the answer was whole`, async () => {
    const { server, token } = await start(open);
    const proxy = await startLosingProxy(server.url, 'ends');
    onTestFinished(() => proxy.close());
    const answer = open({ baseUrl: proxy.url, token }).send(message('Hello'));
    await server.answer('Hello', 'Hi.');

    expect((await answer).text).toBe('Hi.');
    expect(server.callsOf('Hello')).toHaveLength(1);
  });

  test(`${name} gets the stored answer when it sends a message again`, async () => {
    const { server, client, sent, answer, call } = await halfway(open);
    call.end();
    await answer;

    expect((await client.send(sent)).text).toBe('Half');
    expect(server.callsOf('Hello')).toHaveLength(1);
  });
}

function describeQueue(name: string, open: OpenClient) {
  test(`${name} waits with a message while another is answered, if asked to`, async () => {
    const { server, client, sent, answer, call } = await halfway(open);
    const { conversationId } = sent;
    const next = { ...message('And then?'), conversationId, onBusy: 'queue' as const };

    const queued = client.send(next);
    await expect(client.send({ ...message('Now?'), conversationId })).rejects.toThrow(
      'TURN_IN_PROGRESS',
    );
    call.end();
    await answer;
    await server.answer('And then?', 'Then this.');

    expect((await queued).text).toBe('Then this.');
  });
}

async function sendRefused(open: OpenClient, refusals: AppError[]) {
  const { quota, askedAtMs } = refusingQuota(refusals);
  const { server, client } = await start(open, { overrides: { quota } });
  const answer = client.send(message('Hello'));
  return { server, answer, askedAtMs };
}

function describeRefusals(name: string, open: OpenClient) {
  test(`${name} sends again after the Retry-After of a 429`, async () => {
    const { server, answer, askedAtMs } = await sendRefused(open, [minuteSpent(2_000)]);
    await server.answer('Hello', 'Hi.');

    expect((await answer).text).toBe('Hi.');
    const [refusedAtMs = 0, takenAtMs = 0] = askedAtMs;
    expect(takenAtMs - refusedAtMs).toBeGreaterThanOrEqual(2_000);
  });

  test(`${name} tells at once of a quota that is back only after hours`, async () => {
    const { answer, askedAtMs } = await sendRefused(open, [daySpent()]);

    await expect(answer).rejects.toThrow('USER_DAILY_TOKENS: Too many messages.');
    expect(askedAtMs).toHaveLength(1);
  });

  test(`${name} sends again after each 503`, async () => {
    const refusals = [overloaded(), overloaded(1_000)];
    const { server, answer, askedAtMs } = await sendRefused(open, refusals);
    await server.answer('Hello', 'Hi.');

    expect((await answer).text).toBe('Hi.');
    expect(askedAtMs).toHaveLength(3);
  });

  test(`${name} sends again after a 502 that is a page of a proxy`, async () => {
    const { server, token } = await start(open);
    const proxy = await startBrokenProxy(server.url, 1);
    onTestFinished(() => proxy.close());
    const answer = open({ baseUrl: proxy.url, token }).send(message('Hello'));
    await server.answer('Hello', 'Hi.');

    expect((await answer).text).toBe('Hi.');
  });
}

function describeTokens(name: string, open: OpenClient) {
  test(`${name} tells at once of a token that is refused`, async () => {
    const { server } = await start(open);
    const client = open({ baseUrl: server.url, token: 'nobody' });

    await expect(client.send(message('Hello'))).rejects.toThrow('TOKEN_INVALID');
  });

  test(`${name} sends a call once more with a new token where the ID token has expired`, async () => {
    const { server, token: renewedToken } = await start(open);
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const claims = { ...idTokenClaims(server.project, 'alice'), exp: nowSeconds - 60 };
    const token = await server.keys.sign(claims);
    const client = open({ baseUrl: server.url, token, renewedToken });
    const answer = client.send(message('Hello'));
    await server.answer('Hello', 'Hi.');

    expect((await answer).text).toBe('Hi.');
    expect(await client.listConversations()).toHaveLength(1);
    const endless = open({ baseUrl: server.url, token, renewedToken: token });
    await expect(endless.send(message('Hello'))).rejects.toThrow('ID_TOKEN_EXPIRED');
  });

  test(`${name} sends the App Check token with every call`, async () => {
    const environment = { APP_CHECK: 'enforced', APP_CHECK_PROJECT_NUMBER: PROJECT_NUMBER };
    const { server, token, client } = await start(open, { environment });
    const appCheckToken = await server.keys.sign(appCheckClaims(PROJECT_NUMBER));
    const checked: NativeClient = open({ baseUrl: server.url, token, appCheckToken });

    await expect(client.listConversations()).rejects.toThrow('APP_CHECK');
    const answer = checked.send(message('Hello'));
    await server.answer('Hello', 'Hi.');
    expect((await answer).text).toBe('Hi.');
    expect(await checked.listConversations()).toHaveLength(1);
  });
}

/** What every recipe of the native API does. `open`: a client, once the file's tests run. */
export function describeNativeClient(name: string, open: OpenClient): void {
  describe('answers', () => {
    describeAnswers(name, open);
    describeQueue(name, open);
  });
  describe('refusals', () => {
    describeRefusals(name, open);
    describeTokens(name, open);
  });
  describe('changes', () => {
    describeChanges(name, open);
  });
}
