import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { createSpentQuota } from '#test/support/chat/spent-quota.ts';
import { bodyOf, clientOf, errorOfSdk, newText } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const { quota, spend } = createSpentQuota();

const ofModel = (messages: object[]) => ({
  model: 'x',
  messages,
  metadata: { conversation_id: randomUUID() },
});

/** What is wrong, the body, and the field that the error names. */
const badBodies: [string, object, string][] = [
  ['without messages', { model: 'x' }, 'messages'],
  ['with a field that has no effect here', { ...bodyOf('Hi.'), logprobs: true }, 'logprobs'],
  ['with a field that nobody knows', { ...bodyOf('Hi.'), top_k: 5 }, 'top_k'],
  [
    'with a conversation in a wrong place',
    { ...bodyOf('Hi.'), metadata: {}, conversation_id: randomUUID() },
    'metadata.conversation_id',
  ],
  [
    'with a conversation by a wrong name',
    { ...bodyOf('Hi.'), metadata: { conversationId: randomUUID() } },
    'metadata.conversationId',
  ],
  [
    'for a type that there is not',
    {
      ...bodyOf('Hi.'),
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { type: 'banana' } },
      },
    },
    'response_format.json_schema.schema.type',
  ],
  ['that is too warm', { ...bodyOf('Hi.'), temperature: 3 }, 'temperature'],
  ['for two answers', { ...bodyOf('Hi.'), n: 2 }, 'n'],
  [
    'with a message right behind that of a tool',
    ofModel([
      { role: 'tool', content: 'x', tool_call_id: 'y' },
      { role: 'user', content: 'Hi.' },
    ]),
    'messages[0].content',
  ],
  ['that ends with an answer', ofModel([{ role: 'assistant', content: 'Hi.' }]), 'messages'],
  ['of a conversation that says nothing', bodyOf(''), 'messages[0].content'],
  [
    'for an answer of a form that there is not',
    {
      ...bodyOf('Hi.'),
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { $ref: '#' } } },
    },
    'response_format.json_schema.schema',
  ],
  ['with a conversation id that is none', bodyOf('Hi.', 'c1'), 'metadata.conversation_id'],
  [
    'with a picture at an address without https',
    ofModel([
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'http://example.com/a.png' } }],
      },
    ]),
    'messages[0].content[0].image_url.url',
  ],
];

const server = await startWireServer({ overrides: { quota } });
afterAll(() => server.stop());

describe('an error', () => {
  test.each<[string, { body: object; isSignedOut?: boolean }, unknown, (string | null)[]]>([
    [
      'without a token',
      { body: bodyOf('Hi.'), isSignedOut: true },
      OpenAI.AuthenticationError,
      ['invalid_api_key', ''],
    ],
    ...badBodies.map(
      ([what, body, param]) =>
        [what, { body }, OpenAI.BadRequestError, ['BAD_FIELD', param]] satisfies [
          string,
          object,
          unknown,
          string[],
        ],
    ),
    [
      'with a text that is too long',
      { body: bodyOf('x'.repeat(33_000)) },
      OpenAI.BadRequestError,
      ['string_above_max_length', 'messages[0].content[0].text'],
    ],
  ])(
    'an OpenAI error of a request %s is readable',
    async (_, ...[{ body, isSignedOut }, type, codes]) => {
      const { client } = await clientOf(server, { maxRetries: 0 });
      if (isSignedOut) client.apiKey = '';
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a careless program sends
      const error = await errorOfSdk(client.chat.completions.create(body as never));

      expect(error).toBeInstanceOf(type);
      expect([error.code, error.param ?? null]).toEqual(codes);
      expect(error.message).toMatch(/^4\d\d [\w`].*\.$/s);
      expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test('an OpenAI error of another user’s conversation is that of an unknown one', async () => {
    const [text, conversationId] = [newText(), randomUUID()];
    const { client } = await clientOf(server);
    const asked = client.chat.completions.create(bodyOf(text, conversationId));
    await server.answer(text, 'Fine.');
    await asked;
    const mallory = await clientOf(server, { uid: 'mallory' });

    const error = await errorOfSdk(
      mallory.client.chat.completions.create(bodyOf('Hi.', conversationId)),
    );

    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error.code).toBe('CONVERSATION_NOT_FOUND');
  });

  test('an OpenAI error of a too small window comes before the model call', async () => {
    const own = await startWireServer({
      environment: { MODEL_WINDOWS: '{"gemini-3.8-flash":1000}' },
    });
    const response = await own.call('/v1/openai/chat/completions', {
      body: bodyOf('word '.repeat(4_000)),
    });
    await own.stop();

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'context_length_exceeded', type: 'invalid_request_error' },
    });
  });

  test.each([
    ['once where it is back in a day', 86_400_000, 1],
    ['until it gives up where it is back in a moment', 10, 3],
  ])('an OpenAI quota error has the request sent %s', async (_, waitMs, sent) => {
    const { client, posts } = await clientOf(server);
    const conversationId = randomUUID();
    spend(conversationId, waitMs);

    const error = await errorOfSdk(client.chat.completions.create(bodyOf('Hi.', conversationId)));

    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error.code).toBe('insufficient_quota');
    expect(error.message).toContain('No messages are left for today.');
    expect(posts).toHaveLength(sent);
  });
});
