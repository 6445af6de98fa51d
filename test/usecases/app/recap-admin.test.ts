import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { recapAdmin, RecapAdminError } from '#functions/recap-admin.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { textAnswer } from '#test/fakes/scripted-streamer.ts';
import { startLocalApp } from '#test/support/chat/local-app.ts';
import { eventually } from '#test/support/eventually.ts';
import { startBrokenProxy, startLosingProxy } from '#test/support/wire/broken-proxy.ts';

/* A server of an app with `recap/admin`, against the local stack's functions. */

const startLocal = (settings: Record<string, string> = {}) =>
  startLocalApp({ answers: [textAnswer('Your order left on Monday.')], settings });

test('a server sends a message for a user and gets the answer, with the stack of recap dev as it is', async () => {
  const { host, call } = await startLocal();
  const recap = recapAdmin({ baseUrl: host.chatUrl });

  const answer = await recap.send('ada', 'Where is my order?');

  expect(answer).toMatchObject({
    turnId: 't_1',
    state: 'done',
    text: 'Your order left on Monday.',
  });
  expect(answer.reply).toMatchObject({ replayed: false, usage: expect.any(Object) });
  const own = await call(`/${answer.conversationId}/messages`);
  expect(await own.text()).toContain('Where is my order?');
});

test('a server gets the text of an answer piece by piece, and the same message again is no second one', async () => {
  const { host, requests } = await startLocal();
  const recap = recapAdmin({ baseUrl: host.chatUrl });
  const pieces: string[] = [];

  const answer = await recap.send('ada', [{ type: 'text', text: 'Where is it?' }], {
    onText: (text) => void pieces.push(text),
    fields: { locale: 'ko-KR' },
  });
  const again = await recap.send('ada', 'Where is it?', {
    conversationId: answer.conversationId,
    messageId: answer.messageId,
  });

  expect(pieces.join('')).toBe(answer.text);
  expect(again).toMatchObject({ turnId: answer.turnId, text: answer.text });
  expect(requests).toHaveLength(1);
});

test('an answer whose stream breaks off after its first piece comes whole from where it is stored', async () => {
  const { host, requests } = await startLocal();
  const proxy = await startLosingProxy(host.chatUrl, 'ends');
  onTestFinished(() => proxy.close());

  const answer = await recapAdmin({ baseUrl: proxy.url }).send('ada', 'Where is my order?', {
    onText: () => undefined,
  });

  expect(answer.text).toBe('Your order left on Monday.');
  expect(requests).toHaveLength(1);
});

test('a server that no longer waits is let go, and the answer is stored', async () => {
  const { host, call } = await startLocal();
  const proxy = await startLosingProxy(host.chatUrl, 'falls silent');
  onTestFinished(() => proxy.close());
  const conversationId = randomUUID();
  const leaving = new AbortController();

  const sent = recapAdmin({ baseUrl: proxy.url }).send('ada', 'Where is my order?', {
    conversationId,
    onText: () => leaving.abort(),
    signal: leaving.signal,
  });

  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  const own = await call(`/${conversationId}/turns/t_1`);
  expect(await own.json()).toMatchObject({ state: 'done' });
});

test('a call that meets a gateway without its service is made again', async () => {
  const { host, requests } = await startLocal();
  const proxy = await startBrokenProxy(host.chatUrl, 1);
  onTestFinished(() => proxy.close());

  const answer = await recapAdmin({ baseUrl: proxy.url }).send('ada', 'Where is my order?');

  expect(answer.text).toBe('Your order left on Monday.');
  expect(requests).toHaveLength(1);
});

test('an answer whose connection is lost in the middle is asked for again', async () => {
  const { host, requests } = await startLocal();
  const proxy = await startLosingProxy(host.chatUrl, 'is cut');
  onTestFinished(() => proxy.close());

  const answer = await recapAdmin({ baseUrl: proxy.url }).send('ada', 'Where is my order?');

  expect(answer.text).toBe('Your order left on Monday.');
  expect(requests).toHaveLength(1);
});

test('what fails in the handling of a piece fails the call', async () => {
  const { host } = await startLocal();

  const sent = recapAdmin({ baseUrl: host.chatUrl }).send('ada', 'Where is my order?', {
    onText: () => {
      throw new Error('The screen is gone.');
    },
  });

  await expect(sent).rejects.toThrow('The screen is gone.');
});

/** Answers that nobody is there, and when to come back. */
async function startBusy(retryAfter: () => string) {
  const calledAt: number[] = [];
  const server = createServer((_, response) => {
    calledAt.push(Date.now());
    response.writeHead(503, { 'retry-after': retryAfter() }).end();
  });
  const { url, close } = await openServer(server);
  onTestFinished(() => close());
  return { recap: recapAdmin({ baseUrl: url }), calledAt };
}

test('a server that no longer waits is let go between two tries', async () => {
  const { recap, calledAt } = await startBusy(() => '20');
  const leaving = new AbortController();

  const sent = recap.send('ada', 'Hello', { signal: leaving.signal });
  await eventually('a call', () => Promise.resolve(calledAt[0]));
  const leftAt = Date.now();
  leaving.abort(new Error('The user left.'));

  await expect(sent).rejects.toThrow('The user left.');
  expect(Date.now() - leftAt).toBeLessThan(10_000);
});

test('a service that names the time to come back at is not called before', async () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
  const { recap, calledAt } = await startBusy(inAnHour);

  await expect(recap.send('ada', 'Hello')).rejects.toMatchObject({ status: 503 });
  expect(calledAt).toHaveLength(1);
});

test('what cannot be sent at all is not tried again', async () => {
  let asked = 0;
  const recap = recapAdmin({
    baseUrl: 'http://127.0.0.1:1',
    auth: () => {
      asked += 1;
      return 'my-token';
    },
  });

  await expect(recap.send('ada', 'Hello', { fields: { number: 1n } })).rejects.toThrow('BigInt');
  expect(asked).toBe(1);
});

test('a server sets the instruction of a conversation and takes it away', async () => {
  const { host, requests } = await startLocal();
  const recap = recapAdmin({ baseUrl: `${host.chatUrl}/` });
  const { conversationId } = await recap.send('ada', 'Hello');

  await recap.setInstruction('ada', conversationId, 'This is about order 4711.');
  await recap.send('ada', 'And now?', { conversationId });
  await recap.setInstruction('ada', conversationId, null);
  await recap.send('ada', 'At last?', { conversationId });

  expect(requests.map(({ systemInstruction }) => systemInstruction)).toEqual([
    undefined,
    'This is about order 4711.',
    undefined,
  ]);
});

test('what a server takes is taken from the user, and a refusal says why', async () => {
  const { host } = await startLocal({ USER_DAILY_MESSAGES: '1' });
  const recap = recapAdmin({ baseUrl: host.chatUrl });
  await recap.send('ada', 'Hello');

  const refused = recap.send('ada', 'Hello again');

  await expect(refused).rejects.toBeInstanceOf(RecapAdminError);
  await expect(refused).rejects.toMatchObject({ status: 429, reason: 'USER_DAILY_MESSAGES' });
  await expect(recap.send('bob', 'Hello')).resolves.toMatchObject({ state: 'done' });
  await expect(recap.setInstruction('ada', randomUUID(), 'Hi')).rejects.toMatchObject({
    status: 404,
  });
});

test('any call of the API is made for the user, with an ID token of one’s own', async () => {
  const seen: unknown[] = [];
  const { url, close } = await openServer(
    createServer(({ url: path, headers, method }, response) => {
      seen.push({
        path,
        method,
        token: headers.authorization,
        user: headers['x-recap-on-behalf-of'],
      });
      response.end('{}');
    }),
  );
  onTestFinished(() => close());
  const recap = recapAdmin({ baseUrl: url, auth: () => Promise.resolve('my-token') });

  await recap.call('réné 1', '/v1/users/me:erase', { method: 'POST' });

  expect(seen).toEqual([
    {
      path: '/v1/users/me:erase',
      method: 'POST',
      token: 'Bearer my-token',
      user: 'r%C3%A9n%C3%A9%201',
    },
  ]);
});

test.each(['http://chat.example.com', 'http://127.0.0.1.example.com', 'ftp://localhost'])(
  'no token is sent to %s',
  (baseUrl) => {
    expect(() => recapAdmin({ baseUrl, auth: () => 'my-token' })).toThrow('https://');
  },
);
