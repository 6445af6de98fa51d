import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { createWireApp } from '../support/chat/wire-app.ts';

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
  const path = `/v1/conversations/${conversationId}`;
  const message = (text: string) => ({ id: randomUUID(), parts: [{ type: 'text', text }] });
  const post = (to: string, body: unknown) =>
    app.call({ method: 'POST', path: to, uid: 'alice', body: JSON.stringify(body) });
  const lastContent = () => JSON.stringify(requests.at(-1)?.contents.at(-1));
  const get = async (from: string) =>
    (await app.call({ method: 'GET', path: from, uid: 'alice' })).text;
  return { conversationId, path, message, post, get, lastContent };
}

describe('the context of an app', () => {
  test('an app’s context reaches the model with a message, an edit and a regeneration', async () => {
    const { path, message, post, lastContent } = world();
    const first = message('Hello');
    const answers = [await post(`${path}/messages`, { message: first, clientContext })];
    const said = [lastContent()];
    const edited = { message: message('Hi'), clientContext: { screen: 'one' } };
    answers.push(await post(`${path}/messages/${first.id}:edit`, edited));
    said.push(lastContent());
    const anew = { clientContext: { screen: 'two' } };
    answers.push(await post(`${path}/messages/m_2:regenerate`, anew));
    said.push(lastContent());

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(said).toEqual([
      expect.stringMatching(/checkout.*Hello/),
      expect.stringMatching(/one.*Hi/),
      expect.stringMatching(/two.*Hi/),
    ]);
  });

  test('an app’s context reaches the model through `useChat`, a callable and OpenAI clients', async () => {
    const { conversationId, message, post, lastContent } = world();
    const said: string[] = [];

    await post('/v1/ai-sdk/chat', {
      id: conversationId,
      messages: [{ ...message('One'), role: 'user' }],
      clientContext,
    });
    said.push(lastContent());
    const cart = { ...clientContext, screen: 'cart' };
    await post('/callable/chat', {
      data: { conversationId, message: message('Two'), clientContext: cart },
    });
    said.push(lastContent());
    await post('/v1/openai/chat/completions', {
      model: 'any',
      messages: [{ role: 'user', content: 'Three' }],
      metadata: {
        conversation_id: conversationId,
        client_context: JSON.stringify({ ...cart, screen: 'paid' }),
      },
    });
    said.push(lastContent());

    expect(said).toEqual([
      expect.stringMatching(/checkout.*One/),
      expect.stringMatching(/cart.*Two/),
      expect.stringMatching(/paid.*Three/),
    ]);
  });

  test('an app’s context is in no transcript, export, search, title or answer', async () => {
    const { path, message, post, get } = world();
    const sent = await post(`${path}/messages`, { message: message('Hello'), clientContext });

    const shown = [
      sent.text,
      await get(`${path}/messages`),
      await get(`${path}/turns/t_1`),
      await get(`${path}:export`),
      await get(`${path}:export?format=markdown`),
      await get(`/v1/conversations:search?q=kayak`),
      await get(path),
      await get('/v1/conversations'),
    ];

    expect(shown.join('\n')).toContain('Hello');
    expect(shown.join('\n')).not.toMatch(/kayak|checkout|Seoul|Told by the app/);
  });

  test.each<[string, object, string[]]>([
    [
      'an unknown time zone',
      { timeZone: 'Seoul' },
      ['timeZone', 'IANA time zone such as Asia/Seoul'],
    ],
    ['a value that is neither', { values: { a: 1 } }, ['values.a', 'a text or a list of texts']],
    ['a list of numbers', { values: { a: [1] } }, ['values.a', 'text']],
    ['a name with blanks', { values: { 'a b': 'x' } }, ['values', 'letters, digits']],
    ['a reserved name', { values: { __name: 'x' } }, ['values', '__']],
    [
      'too many values',
      { values: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'x'])) },
      ['values', 'at most 32 entries'],
    ],
    [
      'more than is told',
      {
        values: Object.fromEntries(
          Array.from({ length: 5 }, (_, i) => [`k${i}`, 'x'.repeat(20_000)]),
        ),
      },
      ['clientContext', 'at most 65536'],
    ],
    [
      'an unknown field',
      { timezone: 'Asia/Seoul' },
      ['clientContext.timezone', 'Did you mean `timeZone`'],
    ],
    ['half a character', { screen: '\ud800' }, ['clientContext.screen', 'surrogate']],
  ])('an app’s context with %s is refused by name', async (_, context, words) => {
    const { path, message, post } = world();

    const answer = await post(`${path}/messages`, {
      message: message('Hi'),
      clientContext: context,
    });

    expect(answer.status).toBe(400);
    for (const word of words) expect(answer.text).toContain(word);
  });

  test('an app’s context that is no JSON is refused by the OpenAI façade', async () => {
    const { conversationId, post } = world();

    const answer = await post('/v1/openai/chat/completions', {
      model: 'any',
      messages: [{ role: 'user', content: 'Three' }],
      metadata: { conversation_id: conversationId, client_context: 'home' },
    });

    expect(answer.status).toBe(400);
    expect(answer.text).toContain('metadata.client_context');
  });
});
