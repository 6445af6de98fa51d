import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { createWireApp } from '../support/chat/wire-app.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

const clientContext = {
  timeZone: 'Asia/Seoul',
  locale: 'ko-KR',
  appVersion: '3.1.0',
  screen: 'checkout',
  values: { cart: ['kayak', 'paddle'], note: 'n' },
};

function world() {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const app = createWireApp({ model });
  const conversationId = randomUUID();
  const post = (path: string, body: unknown) =>
    app.call({ method: 'POST', path, uid: 'alice', body: JSON.stringify(body) });
  const get = async (path: string) => (await app.call({ method: 'GET', path, uid: 'alice' })).text;
  const lastContent = () => JSON.stringify(requests.at(-1)?.contents.at(-1));
  return { conversationId, path: `/v1/conversations/${conversationId}`, post, get, lastContent };
}

const message = (text: string, id: string = randomUUID()) => ({
  id,
  parts: [{ type: 'text', text }],
});

test('an app’s context reaches the model on every way on which a message comes', async () => {
  const { conversationId, path, post, lastContent } = world();
  const first = message('One');
  const on = (screen: string) => ({ ...clientContext, screen });
  const requests: [string, object][] = [
    [`${path}/messages`, { message: first, clientContext: on('native') }],
    [`${path}/messages/${first.id}:edit`, { message: message('Two'), clientContext: on('edit') }],
    [`${path}/messages/m_2:regenerate`, { clientContext: on('anew') }],
    [
      '/v1/ai-sdk/chat',
      {
        id: conversationId,
        messages: [{ ...message('Three'), role: 'user' }],
        clientContext: on('chat'),
      },
    ],
    [
      '/callable/chat',
      { data: { conversationId, message: message('Four'), clientContext: on('call') } },
    ],
    [
      '/v1/openai/chat/completions',
      {
        model: 'any',
        messages: [{ role: 'user', content: 'Five' }],
        metadata: {
          conversation_id: conversationId,
          client_context: JSON.stringify(on('completion')),
        },
      },
    ],
  ];

  const told: string[] = [];
  for (const [address, body] of requests) {
    const { status } = await post(address, body);
    expect({ address, status }).toEqual({ address, status: 200 });
    told.push(lastContent());
  }

  expect(told).toEqual([
    expect.stringMatching(/native.*One/),
    expect.stringMatching(/edit.*Two/),
    expect.stringMatching(/anew.*Two/),
    expect.stringMatching(/chat.*Three/),
    expect.stringMatching(/call.*Four/),
    expect.stringMatching(/completion.*Five/),
  ]);
});

test('an app’s context is in no transcript, export, search, title or answer', async () => {
  const { path, post, get } = world();
  const sent = await post(`${path}/messages`, { message: message('Hello'), clientContext });

  const shown = [sent.text];
  for (const address of [
    `${path}/messages`,
    `${path}/turns/t_1`,
    `${path}:export`,
    `${path}:export?format=markdown`,
    '/v1/conversations:search?q=kayak',
    path,
    '/v1/conversations',
  ])
    shown.push(await get(address));

  expect(shown.join('\n')).toContain('Hello');
  expect(shown.join('\n')).not.toMatch(/kayak|checkout|Seoul|Told by the app/);
});

const valuesOf = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));

test.each<[string, object, string[]]>([
  ['an unknown time zone', { timeZone: 'Seoul' }, ['timeZone', 'IANA time zone such as']],
  ['a value that is neither', { values: { a: 1 } }, ['values.a', 'a text or a list of texts']],
  ['a name with blanks', { values: { 'a b': 'x' } }, ['values', 'letters, digits']],
  ['a reserved name', { values: { __name: 'x' } }, ['values', '__']],
  ['too many values', { values: valuesOf(33, 'x') }, ['values', 'at most 32 entries']],
  ['more than is told', { values: valuesOf(5, 'x'.repeat(20_000)) }, ['at most 65536']],
  ['an unknown field', { timezone: 'Asia/Seoul' }, ['Did you mean `timeZone`']],
  ['half a character', { screen: '\ud800' }, ['clientContext.screen', 'surrogate']],
])('an app’s context with %s is refused by name', async (_, context, words) => {
  const { path, post } = world();
  const body = { message: message('Hi'), clientContext: context };

  const answer = await post(`${path}/messages`, body);

  expect(answer.status).toBe(400);
  for (const word of words) expect(answer.text).toContain(word);
});
