import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import {
  scriptedStreamer,
  textAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-streamer.ts';
import { errorOf, serveForTest } from '#test/support/chat/chat-server.ts';

const schema = {
  type: 'object',
  properties: { price: { type: 'number' }, currency: { type: 'string' } },
  required: ['price', 'currency'],
  additionalProperties: false,
};
const fitting = '{"price": 12.5, "currency": "EUR"}';
const misfit = '{"price": "twelve", "currency": "EUR"}';

async function chatWith(...answers: readonly ScriptedAnswer[]) {
  const { model, requests } = scriptedStreamer(...answers);
  const store = createMemoryDocumentStore();
  const chat = await serveForTest({
    overrides: { model, store },
    environment: { CLIENT_WRITABLE: 'model,tools', LOOP_DETECTION: 'on' },
  });
  const path = `/v1/conversations/${randomUUID()}`;
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'What does the boat cost?' }] };
  const ask = (body: object = {}, headers?: Record<string, string>) =>
    chat.call(`${path}/messages`, {
      body: { message, responseSchema: schema, ...body },
      ...(headers && { headers }),
    });
  return { chat, path, message, ask, requests };
}

describe('an answer that has to fit a schema', () => {
  test('an answer that does not fit is asked for once more, and nothing of the first one is shown', async () => {
    const { ask, requests } = await chatWith(textAnswer(misfit), textAnswer(fitting));

    const stream = await (await ask({}, { accept: 'text/event-stream' })).text();

    expect(stream).toContain(JSON.stringify(fitting));
    expect(stream).not.toContain('twelve');
    // Both calls are billed.
    expect(stream).toContain('"promptTokens":200');
    expect(requests).toHaveLength(2);
    expect(JSON.stringify(requests[1]?.contents.at(-1))).toContain('#/price');
  });

  test('the report of a second try, whose prompt is not the context, does not measure the context', async () => {
    const { ask, chat, path } = await chatWith(textAnswer(misfit), textAnswer(fitting));

    await ask();

    const conversation: unknown = await (await chat.call(path)).json();
    expect(conversation).toMatchObject({ context: { source: 'estimated' } });
  });

  const seat = { seat: 'free', price: 20, wheelchair: false, window: false };
  test.each([
    ['equal rows', { seats: Array.from({ length: 12 }, () => seat) }],
    [
      'a board of zeros',
      { seats: Array.from({ length: 20 }, () => Array.from({ length: 20 }, () => 0)) },
    ],
  ])('JSON that says the same over and over is an answer: %s', async (_, value) => {
    const text = JSON.stringify(value);
    const { ask, requests } = await chatWith({
      chunks: [
        ...(text.match(/.{1,60}/g) ?? []).map((piece) => ({ parts: [{ text: piece }] })),
        { parts: [], finishReason: 'STOP' },
      ],
    });

    const reply = await (await ask({ responseSchema: { type: 'object' } })).json();

    expect(reply).toMatchObject({ message: { parts: [{ type: 'text', text }] } });
    expect(requests).toHaveLength(1);
  });

  test('a number without end is stopped, and its error tells of one answer', async () => {
    const endless = Array.from({ length: 2_000 }, () => ({ parts: [{ text: '0'.repeat(100) }] }));
    const { ask, requests } = await chatWith({
      chunks: [{ parts: [{ text: '{"price": 1' }] }, ...endless],
    });

    const error = await errorOf(await ask());

    expect(error.reason).toBe('RESPONSE_SCHEMA_UNMET');
    expect(error.text).toContain('repeated itself without end');
    expect(requests).toHaveLength(1);
  });

  test('the same message with another schema is refused: its id belongs to another question', async () => {
    const { ask } = await chatWith(textAnswer(fitting));
    await ask();

    const error = await errorOf(await ask({ responseSchema: { type: 'object' } }));

    expect(error).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('an answer that fits neither time is an error that says what did not fit, for ever', async () => {
    const { ask, requests } = await chatWith(textAnswer(misfit));

    const first = await errorOf(await ask());
    const again = await errorOf(await ask());

    expect(first).toMatchObject({ http: 400, reason: 'RESPONSE_SCHEMA_UNMET' });
    expect(first.text).toContain('#/price');
    expect(again.reason).toBe('RESPONSE_SCHEMA_UNMET');
    expect(requests).toHaveLength(2);
  });

  test('models that take no schema beside tools are asked for the JSON in a second call', async () => {
    const { ask, chat, path, requests } = await chatWith(
      textAnswer('It costs twelve euros.'),
      textAnswer(fitting),
    );
    const tools = [{ name: 'boats', parameters: { type: 'object', properties: {} } }];
    const id = path.split('/').at(-1);
    await chat.call('/v1/conversations', { body: { id, model: 'gemini-2.5-flash', tools } });

    const reply = await (await ask()).json();

    expect(reply).toMatchObject({ message: { parts: [{ text: fitting }] } });
    expect(requests.map((request) => [request.tools?.length, request.responseJsonSchema])).toEqual([
      [1, undefined],
      [undefined, schema],
    ]);
  });
});

describe('a schema that no answer can be held against', () => {
  test.each([
    [
      'a type that there is not',
      { type: 'banana' },
      '`responseSchema.type`: must be one of: object, array',
    ],
    ['a document elsewhere', { $ref: 'https://example.com/schema' }, 'responseSchema.$ref'],
    ['more than 32 KiB', { description: 'a'.repeat(33_000) }, 'responseSchema'],
  ])('%s is refused by name, before anything is stored', async (_, responseSchema, field) => {
    const { ask, requests, chat, path } = await chatWith(textAnswer(fitting));

    const error = await errorOf(await ask({ responseSchema }));

    expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
    expect(error.text).toContain(field);
    expect(requests).toEqual([]);
    expect((await chat.call(path)).status).toBe(404);
  });

  test('a pattern is told to the model and not checked', async () => {
    const slow = { type: 'string', pattern: '^(a+)+$' };
    const answer = JSON.stringify(`${'a'.repeat(50)}!`);
    const { ask, requests } = await chatWith(textAnswer(answer));

    expect((await ask({ responseSchema: slow })).status).toBe(200);
    expect(requests).toMatchObject([{ responseJsonSchema: slow }]);
  });
});
