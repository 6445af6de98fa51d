import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { errorOf } from '#test/support/chat/chat-server.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { usage } from '#test/support/wire/openai.ts';

const { model, requests } = scriptedStreamer(textAnswer('Fine.', usage));
const server = await startWireServer({
  overrides: { model },
  environment: { CLIENT_WRITABLE: 'systemInstruction' },
});
afterAll(() => server.stop());

const said = { role: 'user', content: 'Hello' };
const ui = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };

/** A message in the words of each façade. */
const facades = {
  completion: (fields: object) => ({
    path: '/v1/openai/chat/completions',
    body: { model: 'm', messages: [said], metadata: { conversation_id: randomUUID() }, ...fields },
  }),
  response: (fields: object) => ({ path: '/v1/responses', body: { input: 'Hello', ...fields } }),
  'AI SDK message': (fields: object) => ({
    path: '/v1/ai-sdk/chat',
    body: { id: randomUUID(), messages: [ui], ...fields },
  }),
};

const ask = ({ path, body }: { path: string; body: object }) => server.call(path, { body });

describe('values that no model or store takes', () => {
  test.each<[keyof typeof facades, (tokens: number) => object, string]>([
    ['completion', (tokens) => ({ max_tokens: tokens }), 'max_tokens'],
    ['completion', (tokens) => ({ max_completion_tokens: tokens }), 'max_completion_tokens'],
    ['response', (tokens) => ({ max_output_tokens: tokens }), 'max_output_tokens'],
    [
      'AI SDK message',
      (tokens) => ({ callSettings: { maxTokens: tokens } }),
      'callSettings.maxTokens',
    ],
  ])('a %s for a longer answer than the model gives is refused: %o', async (name, wish, field) => {
    for (const tokens of [65_537, 2_147_483_648, Number.MAX_SAFE_INTEGER]) {
      const error = await errorOf(await ask(facades[name](wish(tokens))));

      expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD', metadata: { field } });
      expect(error.message).toContain(`\`${field}\` may be at most 65536`);
    }
    const longest = await ask(facades[name](wish(65_536)));
    expect(longest.status).toBe(200);
    await longest.text();
  });

  test.each<[keyof typeof facades, object, string]>([
    ['completion', { stop: 'x'.repeat(257) }, 'stop'],
    ['completion', { stop: ['a', 'x'.repeat(257)] }, 'stop[1]'],
    ['completion', { stop: '\ud800' }, 'stop'],
    [
      'completion',
      { messages: [{ role: 'system', content: 'x'.repeat(200_001) }, said] },
      'messages[0]',
    ],
    ['response', { instructions: 'x'.repeat(200_001) }, 'instructions'],
  ])('a %s is refused by the name of the field: %#', async (name, fields, field) => {
    const error = await errorOf(await ask(facades[name](fields)));

    expect(error).toMatchObject({ http: 400 });
    expect(error.metadata['field']).toContain(field);
  });
});

const png = 'iVBORw0KGgo=';

describe('what clients of OpenAI put into messages', () => {
  test.each<[string, string, object]>([
    ['a PNG', `data:image/png;base64,${png}`, { inlineData: { mimeType: 'image/png', data: png } }],
    [
      'one with a parameter',
      `data:image/png;name=a.png;base64,${png}`,
      { inlineData: { mimeType: 'image/png', data: png } },
    ],
    [
      'one in capitals',
      `DATA:Image/PNG;BASE64,${png}`,
      { inlineData: { mimeType: 'image/png', data: png } },
    ],
    [
      'an https address',
      'https://example.com/a.PNG?size=2',
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.PNG?size=2' } },
    ],
  ])('a picture reaches the model: %s', async (_, url, part) => {
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url } },
    ];
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }];

    for (const request of [
      facades.completion({ messages: [{ role: 'user', content }] }),
      facades.response({ input }),
    ]) {
      const reply = await ask(request);
      expect(reply.status).toBe(200);
      await reply.text();
      expect(requests.at(-1)?.contents.at(-1)?.parts).toContainEqual(part);
    }
  });

  test.each([
    ['http', 'http://example.com/a.png', 'must be a data: URL in base64, or an https address'],
    ['no known type', 'https://example.com/a', 'must end as a file of a known type does'],
    ['no base64', 'data:image/png,hi', 'must be a data: URL in base64, or an https address'],
    ['no data', 'data:image/png;base64,', 'must be a data: URL in base64, or an https address'],
    ['no type', `data:;base64,${png}`, 'must be a data: URL in base64, or an https address'],
  ])('a picture is refused for %s', async (_, url, told) => {
    const content = [{ type: 'image_url', image_url: { url } }];

    const error = await errorOf(
      await ask(facades.completion({ messages: [{ role: 'user', content }] })),
    );

    expect(error).toMatchObject({
      http: 400,
      metadata: { field: 'messages[0].content[0].image_url.url' },
    });
    expect(error.message).toContain(told);
  });
});

test.each(['completion', 'response'] as const)(
  'a %s is refused before it is stored for a wish on disconnect that nobody knows',
  async (name) => {
    const { path, body } = facades[name]({});
    const asked = requests.length;

    const reply = await server.call(path, { body, headers: { 'X-On-Disconnect': 'later' } });

    expect(await errorOf(reply)).toMatchObject({
      http: 400,
      metadata: { field: 'X-On-Disconnect' },
    });
    expect(requests).toHaveLength(asked);
  },
);
