import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bodyOf, clientOf, errorOfSdk, newText, transcriptOf } from '#test/support/wire/openai.ts';
import { startWireServer, type WireServer } from '#test/support/wire/wire-server.ts';

let server: WireServer;
beforeAll(async () => {
  let calls = 0;
  server = await startWireServer({
    overrides: {
      model: {
        async *stream() {
          const parts = [{ text: `Answer ${(calls += 1)}.` }];
          yield await Promise.resolve({ parts, finishReason: 'STOP' });
        },
      },
    },
  });
});
afterAll(() => server.stop());

/** Says the last of `messages` in a conversation and gives the answer. */
async function say(
  conversationId: string,
  messages: OpenAI.ChatCompletionMessageParam[],
  headers: Record<string, string> = {},
) {
  const { client } = await clientOf(server);
  const body = { ...bodyOf('', conversationId), messages };
  const { choices } = await client.chat.completions.create(body, { headers });
  return choices[0]?.message.content;
}

const user = (content: string) => ({ role: 'user' as const, content });
const assistant = (content: string) => ({ role: 'assistant' as const, content });

describe('a message without an id', () => {
  test('an OpenAI message without an id and history is new each time', async () => {
    const [text, conversationId] = [newText(), randomUUID()];

    const first = await say(conversationId, [user(text)]);
    const second = await say(conversationId, [user(text)]);

    expect(second).not.toBe(first);
    expect(await transcriptOf(server, conversationId)).toHaveLength(4);
  });

  test('an OpenAI message without an id is identified by its history', async () => {
    const [text, conversationId] = [newText(), randomUUID()];
    const history = [user('Hi.'), assistant('Hello.'), user(text)];

    const first = await say(conversationId, history);
    const again = await say(conversationId, history);
    const second = await say(conversationId, [...history, assistant(String(first)), user(text)]);

    expect(again).toBe(first);
    expect(second).not.toBe(first);
    expect(await transcriptOf(server, conversationId)).toHaveLength(4);
  });

  test('an OpenAI message without an id ignores the system message for its identity', async () => {
    const [text, conversationId] = [newText(), randomUUID()];
    const at = (time: string) => [
      { role: 'system' as const, content: `It is ${time}.` },
      user('Hi.'),
      assistant('Hello.'),
      user(text),
    ];

    const first = await say(conversationId, at('12:00'));

    expect(await say(conversationId, at('12:01'))).toBe(first);
  });

  test.each([
    ['a UUID', randomUUID()],
    ['any other text', 'my key'],
  ])('an OpenAI message without an id is identified by its Idempotency-Key, %s', async (_, key) => {
    const [text, conversationId] = [newText(), randomUUID()];
    const send = (idempotencyKey: string) =>
      say(conversationId, [user(text)], { 'Idempotency-Key': idempotencyKey });

    const first = await send(key);

    expect(await send(key)).toBe(first);
    expect(await send(randomUUID())).not.toBe(first);
  });

  test('an `Idempotency-Key` of another message is refused by its name', async () => {
    const { client } = await clientOf(server);
    const conversationId = randomUUID();
    const headers = { 'Idempotency-Key': randomUUID() };
    await say(conversationId, [user(newText())], headers);

    const other = client.chat.completions.create(bodyOf(newText(), conversationId), { headers });

    expect(await errorOfSdk(other)).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      param: 'Idempotency-Key',
    });
  });

  test('an OpenAI message without an id is another one in another conversation', async () => {
    const text = newText();

    const first = await say(randomUUID(), [user('Hi.'), user(text)]);

    expect(await say(randomUUID(), [user('Hi.'), user(text)])).not.toBe(first);
  });
});
