import { afterAll, describe, expect, test } from 'vitest';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { asResource, eventsOf, lastResponse } from './responses-server.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

/* The cases of https://www.openresponses.org/compliance, in our own words; a dialogue has to name its conversation. */

/** Calls the first tool that there is, or says what was said last. */
const model: ModelStreamer = {
  stream: async function* ({ contents, tools = [] }) {
    const [tool] = tools;
    const last = contents.at(-1);
    const parts = tool
      ? [{ functionCall: { name: tool.name, args: { location: 'San Francisco, CA' } } }]
      : [{ text: `You said: ${last ? contentText(last) : ''}` }];
    const usage = { promptTokens: 10, cachedTokens: 0, outputTokens: 2, thoughtsTokens: 0 };
    yield await Promise.resolve({ parts });
    yield { parts: [], finishReason: 'STOP', usage };
  },
};

const server = await startWireServer({
  overrides: { model },
  environment: { CLIENT_WRITABLE: 'tools,systemInstruction' },
});
afterAll(() => server.stop());

const said = (role: string, content: unknown) => ({ type: 'message', role, content });
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Says what the weather is like somewhere.',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'City and state.' } },
    required: ['location'],
  },
};
const asking = [said('user', 'What is the weather like in San Francisco?')];

const cases: [name: string, body: Record<string, unknown>, types: string[]][] = [
  ['a text', { input: [said('user', 'Say hello in exactly 3 words.')] }, ['message']],
  [
    'a system message',
    { input: [said('system', 'You are a pirate.'), said('user', 'Say hello.')] },
    ['message'],
  ],
  ['a function', { input: asking, tools: [weather] }, ['function_call']],
  [
    'an image',
    {
      input: [
        said('user', [
          { type: 'input_text', text: 'What do you see?' },
          { type: 'input_image', image_url: PIXEL },
        ]),
      ],
    },
    ['message'],
  ],
  [
    'a dialogue',
    {
      conversation: crypto.randomUUID(),
      input: [
        said('user', 'My name is Alice.'),
        said('assistant', 'Hello Alice!'),
        said('user', 'What is my name?'),
      ],
    },
    ['message'],
  ],
];

describe('the compliance cases of openresponses.org', () => {
  const post = (body: object) =>
    server.call('/v1/responses', { method: 'POST', body: { model: 'recap', ...body } });

  test.each(cases)(
    'the Responses API answers %s as openresponses.org asks',
    async (_, body, types) => {
      const response = asResource(await (await post({ ...body, stream: false })).json());

      expect(response.status).toBe('completed');
      expect(response.output.map(({ type }) => type)).toEqual(types);
    },
  );

  test.each(cases)(
    'the Responses API streams %s as openresponses.org asks',
    async (_, body, types) => {
      const response = lastResponse(await eventsOf(await post({ ...body, stream: true })));

      expect(response.status).toBe('completed');
      expect(response.output.map(({ type }) => type)).toEqual(types);
    },
  );

  test('the Responses API streams a call with its arguments as openresponses.org asks', async () => {
    const events = await eventsOf(await post({ input: asking, tools: [weather], stream: true }));

    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });
});
