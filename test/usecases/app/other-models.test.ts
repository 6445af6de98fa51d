import { MockLanguageModelV4 } from 'ai/test';
import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAiSdkModel } from '#functions/adapters/ai-sdk-model.ts';
import { fromAiSdk, tool } from '#functions/app.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { startLocalApp } from '#test/support/chat/local-app.ts';

/* Models of other vendors, by the provider interface of the AI SDK. */

type StreamPart = NonNullable<
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P>
    ? P
    : never
>;

const usage = {
  inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: 0 },
  outputTokens: { total: 12, text: 10, reasoning: 2 },
};

const finish = (unified: 'stop' | 'length' | 'tool-calls' | 'error' = 'stop'): StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage,
});

const say = (text: string): StreamPart[] => [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: text },
  { type: 'text-end', id: '1' },
  finish(),
];

/** A model that streams from a list; the last answer repeats. */
function streaming(...answers: StreamPart[][]) {
  let calls = 0;
  const model = new MockLanguageModelV4({
    modelId: 'claude-next',
    doStream: () => {
      const parts = answers[Math.min(calls++, answers.length - 1)] ?? [];
      return Promise.resolve({ stream: ReadableStream.from(parts) });
    },
    doGenerate: () =>
      Promise.resolve({
        content: [{ type: 'text' as const, text: 'Whole.' }],
        finishReason: { unified: 'stop' as const, raw: 'stop' },
        usage,
        warnings: [],
      }),
  });
  return model;
}

const limits = { firstEventTimeoutMs: 200, eventIdleTimeoutMs: 200, requestTimeoutMs: 200 };

const request: ModelRequest = {
  model: 'claude-next',
  role: 'chat',
  promptId: 't_1',
  contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
};

const neverAborted = () => new AbortController().signal;

async function chunksOf(model: MockLanguageModelV4, asked = request): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of createAiSdkModel(model, limits).stream(asked, neverAborted()))
    chunks.push(chunk);
  return chunks;
}

describe('a model of the AI SDK', () => {
  test('streams text, thoughts with what the provider wants back, calls, files, an end and its usage', async () => {
    const chunks = await chunksOf(
      streaming([
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-delta', id: 'r', delta: ' So.' },
        // As Anthropic's provider says it: with a delta that is empty.
        {
          type: 'reasoning-delta',
          id: 'r',
          delta: '',
          providerMetadata: { anthropic: { signature: 's' } },
        },
        { type: 'reasoning-end', id: 'r' },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'Hi ' },
        { type: 'text-delta', id: '1', delta: 'there' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{"at":1}' },
        finish('tool-calls'),
      ]),
    );

    expect(chunks).toEqual([
      { parts: [{ text: 'Hm.', thought: true }] },
      { parts: [{ text: ' So.', thought: true }] },
      {
        parts: [
          {
            text: 'Hm. So.',
            thought: true,
            thoughtSignature: '{"anthropic":{"signature":"s"}}',
          },
        ],
      },
      { parts: [{ text: 'Hi ' }] },
      { parts: [{ text: 'there' }] },
      { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      { parts: [{ functionCall: { id: 'c1', name: 'look', args: { at: 1 } } }] },
      {
        parts: [],
        finishReason: 'STOP',
        usage: { promptTokens: 100, cachedTokens: 40, outputTokens: 10, thoughtsTokens: 2 },
      },
    ]);
  });

  test('is sent instruction, tools and settings, and each response behind its call', async () => {
    const model = streaming(say('Fine.'));

    await chunksOf(model, {
      ...request,
      systemInstruction: 'Be kind.',
      tools: [{ name: 'look', description: 'Looks.', parametersJsonSchema: { type: 'object' } }],
      toolChoice: 'none',
      sampling: { temperature: 0.5, thinkingLevel: 'low' },
      maxOutputTokens: 50,
      responseJsonSchema: { type: 'string' },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'See' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
        },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true },
            { text: '', thought: true, thoughtSignature: '{"anthropic":{"signature":"s"}}' },
            { text: 'I look.' },
            { functionCall: { id: 'c1', name: 'look', args: { at: 1 } } },
            { functionCall: { name: 'look', args: { at: 2 } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'look', response: { seen: 1 } } },
            { functionResponse: { name: 'look', response: { seen: 2 } } },
          ],
        },
      ],
    });

    const { prompt, abortSignal, ...options } = model.doStreamCalls[0] ?? {};
    expect(abortSignal).toBeInstanceOf(AbortSignal);
    expect(options).toEqual({
      tools: [
        { type: 'function', name: 'look', description: 'Looks.', inputSchema: { type: 'object' } },
      ],
      toolChoice: { type: 'none' },
      temperature: 0.5,
      reasoning: 'low',
      maxOutputTokens: 50,
      responseFormat: { type: 'json', schema: { type: 'string' } },
    });
    const results = [
      ['c1', 1],
      ['call-1', 2],
    ].map(([toolCallId, seen]) => ({
      type: 'tool-result',
      toolCallId,
      toolName: 'look',
      output: { type: 'json', value: { seen } },
    }));
    expect(prompt).toEqual([
      { role: 'system', content: 'Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', providerOptions: { anthropic: { signature: 's' } } },
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { at: 1 } },
          { type: 'tool-call', toolCallId: 'call-1', toolName: 'look', input: { at: 2 } },
        ],
      },
      { role: 'tool', content: results },
    ]);
  });

  const failing = (statusCode: number, message = 'no', responseHeaders = {}) =>
    Object.assign(new Error(message), { name: 'AI_APICallError', statusCode, responseHeaders });
  test.each<[string, unknown, object]>([
    [
      '429',
      failing(429, 'slow down', { 'retry-after': '7' }),
      { reason: 'MODEL_QUOTA', retryAfterMs: 7_000 },
    ],
    ['529', failing(529), { reason: 'MODEL_OVERLOADED', retryable: true }],
    ['404', failing(404), { reason: 'MODEL_UNKNOWN' }],
    ['401', failing(401), { reason: 'MODEL_REFUSED_REQUEST', retryable: true }],
    ['400', failing(400, 'bad'), { reason: 'MODEL_REFUSED_REQUEST', retryable: false }],
    [
      'a long prompt',
      failing(400, 'prompt is too long: 210000 tokens > 200000 maximum'),
      { reason: 'MODEL_CONTEXT_OVERFLOW' },
    ],
    [
      'a long prompt, in the words of OpenAI',
      failing(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
      ),
      { reason: 'MODEL_CONTEXT_OVERFLOW' },
    ],
    [
      'a lost connection',
      Object.assign(new TypeError('fetch failed')),
      { reason: 'MODEL_OVERLOADED' },
    ],
  ])('fails as the ports say, without the words of the vendor: %s', async (_, error, expected) => {
    const rejecting = new MockLanguageModelV4({ doStream: () => Promise.reject(error) });
    const inStream = streaming([{ type: 'error', error }]);

    for (const model of [rejecting, inStream])
      await expect(chunksOf(model)).rejects.toMatchObject(expected);
  });

  test.each<[unknown, object]>([
    [{ type: 'overloaded_error', message: 'Overloaded' }, { reason: 'MODEL_OVERLOADED' }],
    ['no capacity', { reason: 'MODEL_OVERLOADED' }],
    [undefined, { reason: 'MODEL_OVERLOADED' }],
    [{ code: 'context_length_exceeded' }, { reason: 'MODEL_CONTEXT_OVERFLOW' }],
  ])(
    'an error that a stream tells as the server worded it is told without its words: %o',
    async (told, expected) => {
      const answer = () => chunksOf(streaming([{ type: 'error', error: told }]));

      await expect(answer()).rejects.toMatchObject(expected);
      await expect(answer()).rejects.not.toThrow(/Overloaded|capacity/);
    },
  );

  /** A stream that says something and stays open, and what it was told at its end. */
  function openStream(...parts: StreamPart[]) {
    const ended = { byCancel: false };
    const model = new MockLanguageModelV4({
      modelId: 'claude-next',
      doStream: () =>
        Promise.resolve({
          stream: new ReadableStream<StreamPart>({
            start: (controller) => parts.forEach((part) => controller.enqueue(part)),
            cancel: () => void (ended.byCancel = true),
          }),
        }),
    });
    return { model, ended };
  }

  test('a stream that its reader leaves is cancelled, whether it heeds its signal or not', async () => {
    const { model, ended } = openStream(...say('Fine.').slice(0, 3));

    for await (const _ of createAiSdkModel(model, limits).stream(request, neverAborted())) break;

    expect(ended.byCancel).toBe(true);
  });

  test('a stream that falls silent is cancelled', async () => {
    const { model, ended } = openStream(...say('Fine.').slice(0, 3));

    await expect(chunksOf(model)).rejects.toMatchObject({ reason: 'MODEL_TIMEOUT' });

    expect(ended.byCancel).toBe(true);
  });

  test('an answer that has said its end is whole, though its stream stays open', async () => {
    const { model } = openStream(...say('Fine.'));

    await expect(chunksOf(model)).resolves.toMatchObject([{}, { finishReason: 'STOP' }]);
  });

  test('calls that never end leave nothing behind at the signal of their caller', async () => {
    const silent = new MockLanguageModelV4({ doGenerate: () => new Promise(() => undefined) });
    const { signal } = new AbortController();

    await expect(createAiSdkModel(silent, limits).generate(request, signal)).rejects.toMatchObject({
      reason: 'MODEL_TIMEOUT',
    });

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test.each<[string, StreamPart[], string]>([
    ['ends without a finish', [{ type: 'text-delta', id: '1', delta: 'Ha' }], 'MODEL_OVERLOADED'],
    ['ends with an error', [finish('error')], 'MODEL_OVERLOADED'],
    [
      'calls with no JSON',
      [{ type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{' }],
      'MODEL_OVERLOADED',
    ],
  ])('a stream that %s is a failure that may be tried again', async (_, parts, reason) => {
    await expect(chunksOf(streaming(parts))).rejects.toMatchObject({ reason, retryable: true });
  });

  test('a model that is silent ends with MODEL_TIMEOUT, and its call is told to end', async () => {
    let told: AbortSignal | undefined;
    const silent = new MockLanguageModelV4({
      doStream: ({ abortSignal }) => {
        told = abortSignal;
        return new Promise(() => undefined);
      },
    });

    await expect(chunksOf(silent)).rejects.toMatchObject({ reason: 'MODEL_TIMEOUT' });
    expect(told?.aborted).toBe(true);
  });

  test('answers whole where it is asked so, and another version of the interface is refused by name', async () => {
    const whole = await createAiSdkModel(streaming(), limits).generate(request, neverAborted());

    expect(whole).toMatchObject({ parts: [{ text: 'Whole.' }], finishReason: 'STOP' });
    const old = new MockLanguageModelV4({ provider: 'acme', modelId: 'old' });
    const first = Object.defineProperty(old, 'specificationVersion', { value: 'v1' });
    expect(() => createAiSdkModel(first, limits)).toThrow(/v3 or v4; acme old has v1/);
  });
});

describe('an app with a model of another vendor', () => {
  test('answers with it, tools included, and books its figures', async () => {
    const model = streaming(
      [
        { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"place":"Bern"}' },
        finish('tool-calls'),
      ],
      say('It snows.'),
    );
    const weather = tool({
      name: 'weather',
      description: 'The weather.',
      input: z.object({ place: z.string() }),
      run: ({ place }) => `Snow in ${place}`,
    });
    const { send } = await startLocalApp({
      app: { model: fromAiSdk(model), tools: [weather] },
    });

    const answer = await send(randomUUID(), 'How is it in Bern?');

    expect(answer).toMatchObject({
      status: 200,
      body: { turn: { model: 'claude-next', usage: { promptTokens: 200 } } },
    });
    expect(JSON.stringify(answer.body)).toContain('It snows.');
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt.at(-1))).toContain('Snow in Bern');
  });

  test('asks for a price where dollars are limited, by the name of the variable', () => {
    const environment = stackEnvironment({
      shell: {},
      model: { kind: 'fake-gemini' },
      settings: { USER_DAILY_USD: '1' },
    });
    const price = { input: 3, cached: 0.3, output: 15 };
    const named = { ...environment, MODEL_PRICES: JSON.stringify({ 'claude-*': price }) };
    const app = { model: fromAiSdk(streaming(), { windowTokens: 200_000 }) };

    expect(() => createDependencies(localConfig(environment), {}, app)).toThrow(
      /MODEL_PRICES: must name what claude-next costs/,
    );
    expect(() => createDependencies(localConfig(named), {}, app)).not.toThrow();
  });
});
