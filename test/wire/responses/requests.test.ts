import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { contentText } from '#shared/models/content.ts';
import type { ModelRequest, ModelStreamer } from '#shared/ports/ports.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import { asResource, eventsIn, lastResponse } from './responses-server.ts';

/* What a request of the Responses API asks for: what of it reaches the model, and what is refused by its name. */

const requests: ModelRequest[] = [];
/** Calls the first tool that there is, or says what was said last. */
const model: ModelStreamer = {
  stream: async function* (request) {
    requests.push(structuredClone(request));
    const { contents, tools = [], responseJsonSchema: fits } = request;
    const [tool] = tools;
    const last = contents.at(-1);
    const said = `You said: ${last ? contentText(last) : ''}`;
    const args = { location: 'San Francisco, CA' };
    yield await Promise.resolve({
      parts: [
        tool
          ? { functionCall: { name: tool.name, args } }
          : { text: fits ? '{"city":"Oslo"}' : said },
      ],
    });
    yield { parts: [], finishReason: 'STOP' };
  },
};

const app = createWireApp({ model }, { CLIENT_WRITABLE: 'tools,systemInstruction' });
const closed = createWireApp({ model });

const post = (body: object, { at = app, headers = {} } = {}) =>
  at.call({
    method: 'POST',
    path: '/v1/responses',
    uid: 'alice',
    headers,
    body: JSON.stringify({ model: 'recap', ...body }),
  });

const said = (role: string, content: unknown) => ({ type: 'message', role, content });
const PNG = 'iVBORw0KGgo=';
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

/* The cases of https://www.openresponses.org/compliance, in our own words; a dialogue has to name its conversation. */
const compliance: [name: string, body: object, types: string[]][] = [
  ['a text', { input: [said('user', 'Say hello in exactly 3 words.')] }, ['message']],
  [
    'a system message',
    { input: [said('system', 'You are a pirate.'), said('user', 'Say hello.')] },
    ['message'],
  ],
  ['a function', { input: 'What is the weather like?', tools: [weather] }, ['function_call']],
  [
    'an image',
    {
      input: [
        said('user', [
          { type: 'input_text', text: 'What do you see?' },
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
        ]),
      ],
    },
    ['message'],
  ],
  [
    'a dialogue',
    {
      conversation: randomUUID(),
      input: [
        said('user', 'My name is Alice.'),
        said('assistant', 'Hello Alice!'),
        said('user', 'What is my name?'),
      ],
    },
    ['message'],
  ],
];

describe.each(compliance)('a case of openresponses.org: %s', (_, body, types) => {
  test.each([false, true])(
    'the Responses API answers as openresponses.org asks, streamed: %s',
    async (stream) => {
      const { text } = await post({ ...body, stream });
      const response = stream ? lastResponse(eventsIn(text)) : asResource(JSON.parse(text));

      expect(response.status).toBe('completed');
      expect(response.output.map(({ type }) => type)).toEqual(types);
    },
  );
});

test.each<[what: string, body: object, types: string[]]>([
  [
    'a text',
    { input: 'Hello' },
    [
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
    ],
  ],
  [
    'a call',
    { input: 'What is the weather like?', tools: [weather] },
    [
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ],
  ],
])(
  'the Responses API streams %s in events of the order of the protocol',
  async (_, body, types) => {
    const events = eventsIn((await post({ ...body, stream: true })).text);

    const all = ['created', 'in_progress', ...types, 'completed'];
    expect(events.map(({ type }) => type)).toEqual(all.map((type) => `response.${type}`));
    expect(events.map((event) => event.sequence_number)).toEqual(
      events.map((event) => event.sequence_number).toSorted((a, b) => a - b),
    );
    expect(new Set(events.map((event) => event.sequence_number)).size).toBe(events.length);
  },
);

const image = (url: string) => ({ type: 'input_image', image_url: url });

test.each<[what: string, body: object, request: object]>([
  [
    'how it is to be made',
    { input: 'Hi', temperature: 0.2, max_output_tokens: 100 },
    { sampling: { temperature: 0.2 }, maxOutputTokens: 100 },
  ],
  [
    'instructions where clients may write them',
    { input: 'Hi', instructions: 'Be a pirate.' },
    { systemInstruction: 'Be a pirate.' },
  ],
  [
    'pictures and files of all its messages',
    {
      input: [
        said('user', [
          image(`data:image/png;base64,${PNG}`),
          image('https://example.org/boat.jpg'),
          { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' },
        ]),
        said('user', 'Look'),
      ],
    },
    {
      contents: [
        {
          parts: [
            { inlineData: { mimeType: 'image/png', data: PNG } },
            { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.org/boat.jpg' } },
            { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
            { text: expect.stringContaining('Look') },
          ],
        },
      ],
    },
  ],
])('an answer of the Responses API has %s', async (_, body, request) => {
  expect((await post(body)).status).toBe(200);
  expect(requests.at(-1)).toMatchObject(request);
});

test('the pictures and files of a response are among its input items', async () => {
  const url = `data:image/png;base64,${PNG}`;
  const file = { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' };
  const { text } = await post({ input: [said('user', [image(url), file]), said('user', 'Look')] });
  const path = `/v1/responses/${JSON.parse(text).id}/input_items`;

  const items = await app.call({ method: 'GET', path, uid: 'alice' });

  const content = [
    { type: 'input_image', image_url: url },
    { type: 'input_file', file_url: 'data:application/pdf;base64,AAAA' },
    { type: 'input_text', text: 'Look' },
  ];
  expect(JSON.parse(items.text).data).toMatchObject([{ content }]);
});

test('what has no effect of a request of the Responses API is told', async () => {
  const body = { input: 'Hi', text: { verbosity: 'low' }, instructions: 'Be a pirate.' };

  const { text } = await post(body, { at: closed });

  expect(JSON.parse(text).ignored.toSorted()).toEqual(['instructions', 'text.verbosity']);
  expect(requests.at(-1)?.systemInstruction).toBeUndefined();
});

const output = { type: 'function_call_output', call_id: 'x', output: '1' };

test.each<[field: string, body: object, headers?: Record<string, string>]>([
  ['background', { background: true }],
  ['include', { include: ['message.output_text.logprobs'] }],
  ['parallel_tool_calls', { parallel_tool_calls: false }],
  ['store', { store: false }],
  ['max_output', { max_output: 5 }],
  ['input', { input: [said('user', 'Hello'), said('assistant', 'Hi'), said('user', 'Hello')] }],
  ['input[0].output', { conversation: randomUUID(), input: [output, said('user', 'Hello')] }],
  ['input[0].call_id', { input: [output] }],
  ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
  ['input', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  ['previous_response_id', { previous_response_id: 'resp_1', conversation: randomUUID() }],
  ['previous_response_id', { previous_response_id: 'resp_1' }],
  ['conversation', { conversation: 'conv_1' }],
  ['tools[0].type', { tools: [{ type: 'web_search' }] }],
])('`%s` is refused by name where it cannot be done', async (field, more, headers = {}) => {
  const asked = requests.length;

  const { status, text } = await post({ input: 'Hello', ...more }, { headers });

  const { error } = JSON.parse(text);
  expect(status).toBeLessThan(500);
  expect(error).toMatchObject({ param: field });
  expect(error.message.length).toBeGreaterThan(20);
  expect(requests).toHaveLength(asked);
});
