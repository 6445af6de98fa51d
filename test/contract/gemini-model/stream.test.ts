import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Content } from '#shared/models/content.ts';
import { addReport } from '#shared/grounding/bounded-report.ts';
import {
  collect,
  collectUntilFailure,
  never,
  request,
  startModel,
  startModelThat,
  textOf,
} from '#test/support/gemini-model-calls.ts';

/* What servers of Gemini send, as it comes over the wire, and what the adapter reads of it. */

/** The longest silence between two events, and behind a finish. */
const SILENCE_MS = 400;

const usageMetadata = {
  promptTokenCount: 8,
  cachedContentTokenCount: 5,
  candidatesTokenCount: 12,
  thoughtsTokenCount: 40,
  totalTokenCount: 60,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
};
const event = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata,
  modelVersion: 'gemini-2.5-flash',
  responseId: 'p8Zs',
});
const lines = (events: readonly object[]) =>
  events.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('');

const streamOf = (text: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(text);
};

/** Begins a stream and leaves its end to `go`. */
const streamThat =
  (begin: string, go: (response: ServerResponse) => void = () => undefined) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(begin);
    go(response);
  };

const answerParts = [
  [{ text: 'Weighing it.', thought: true }],
  [{ text: 'Bei 4 °C: ' }],
  [{ text: '안녕하세요 👩‍👩‍👧\n\ndata: not an event' }],
  [
    {
      functionCall: { name: 'find', args: { at: [1, null], on: true }, id: 'f1' },
      thoughtSignature: 'c2ln',
      newField: { nested: [1, null] },
    },
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
  ],
];
const answer = answerParts.map((parts) => event(parts));
const stop = event([{ text: '' }], { finishReason: 'STOP', safetyRatings: [] });
const whole = [...answer, stop];

describe.concurrent('a stream of the model', () => {
  test('a stream is read with all of its parts and figures', async (context) => {
    const { model } = await startModelThat(context, streamOf(lines(whole)));

    const chunks = await collect(model.stream(request, never));

    expect(chunks.map(({ parts }) => parts)).toEqual([...answerParts, [{ text: '' }]]);
    expect(chunks.at(-1)).toMatchObject({
      finishReason: 'STOP',
      usage: { promptTokens: 8, cachedTokens: 5, outputTokens: 12, thoughtsTokens: 40 },
    });
  });

  test.for([1, 2, 3, 7])(
    'a model stream reads text whose bytes arrive %i at a time',
    async (sizeBytes, context) => {
      const { fakeGemini, model } = await startModel(context);
      const text = '안녕하세요 👩‍👩‍👧 مرحبا, das sind 4-Byte-Zeichen: 💜💜💜.';
      fakeGemini.queueFaults({ kind: 'splitBytes', sizeBytes });
      const contents: Content[] = [text, 'Which 4-Byte-Zeichen?'].map((said) => ({
        role: 'user',
        parts: [{ text: said }],
      }));

      expect(textOf(await collect(model.stream({ ...request, contents }, never)))).toBe(text);
    },
  );

  test.for([
    ['bare line feeds', lines(whole).replaceAll('\r', '')],
    ['comments between its events', lines(whole).replaceAll('data: {', ': keep-alive\n\ndata: {')],
  ])('a stream with %s is read as any other', async ([, body = ''], context) => {
    const { model } = await startModelThat(context, streamOf(body));

    const chunks = await collect(model.stream(request, never));

    expect(chunks.map(({ parts }) => parts)).toEqual([...answerParts, [{ text: '' }]]);
  });

  test('a whole answer is read with all of its parts and figures', async (context) => {
    const { model } = await startModelThat(context, (response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(event(answerParts.flat(), { finishReason: 'STOP' })));
    });

    expect(await model.generate(request, never)).toEqual({
      parts: answerParts.flat(),
      finishReason: 'STOP',
      usage: { promptTokens: 8, cachedTokens: 5, outputTokens: 12, thoughtsTokens: 40 },
    });
  });

  const half = event([{ text: 'Half' }]);
  test.for([
    {
      name: 'whose prompt was blocked',
      body: lines([{ promptFeedback: { blockReason: 'SAFETY' } }]),
      end: { text: '', blockReason: 'SAFETY' },
    },
    {
      name: 'that ends for safety without parts',
      body: lines([half, { candidates: [{ finishReason: 'SAFETY', index: 0 }] }]),
      end: { text: 'Half', finishReason: 'SAFETY' },
    },
    {
      name: 'with an error for an event',
      body: lines([half, { error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }]),
      end: { text: 'Half', failure: 'MODEL_OVERLOADED' },
    },
    {
      name: 'with an error in the place of events',
      body: JSON.stringify({ error: { code: 403, status: 'PERMISSION_DENIED', message: 'x' } }),
      end: { text: '', failure: 'MODEL_REFUSED_REQUEST' },
    },
    {
      name: 'that is cut within an event',
      body: lines([half, stop]).slice(0, -30),
      end: { text: 'Half', failure: 'MODEL_OVERLOADED' },
    },
    {
      name: 'without an end',
      body: lines([half]),
      end: { text: 'Half', failure: 'MODEL_OVERLOADED' },
    },
    {
      name: 'whose second event is no JSON',
      body: `${lines([half])}data: {"candidates": [ no\n\n`,
      end: { text: 'Half', failure: 'MODEL_OVERLOADED' },
    },
    { name: 'of nothing', body: '', end: { text: '', failure: 'MODEL_OVERLOADED' } },
  ])('a stream $name is read as $end', async ({ body, end }, context) => {
    const { model } = await startModelThat(context, streamOf(body));

    const { received, failure } = await collectUntilFailure(model.stream(request, never));

    const { finishReason, blockReason } = received.at(-1) ?? {};
    const read = { text: textOf(received), finishReason, blockReason, failure: failure?.reason };
    expect(read).toEqual({
      finishReason: undefined,
      blockReason: undefined,
      failure: undefined,
      ...end,
    });
  });
});

describe.concurrent('the end of a stream of the model', () => {
  const finished = lines([
    { candidates: [{ content: { parts: [{ text: 'Noted.' }] }, finishReason: 'STOP' }] },
  ]);
  const usage = lines([{ usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 2 } }]);
  const failing = lines([{ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }]);
  const reset = (response: ServerResponse) =>
    void setTimeout(() => response.socket?.resetAndDestroy(), 50);
  const options = { eventIdleTimeoutMs: SILENCE_MS };

  test.for([
    { name: 'says nothing more', respond: streamThat(finished), hasUsage: false },
    {
      name: 'tells the usage a little later and stays open',
      respond: streamThat(finished, (response) => void setTimeout(() => response.write(usage), 50)),
      hasUsage: true,
    },
    { name: 'is reset', respond: streamThat(finished + usage, reset), hasUsage: true },
    {
      name: 'ends with an error event',
      respond: streamOf(finished + usage + failing),
      hasUsage: true,
    },
    {
      name: 'ends within an event',
      respond: streamOf(finished + usage + usage.slice(0, 20)),
      hasUsage: true,
    },
    {
      name: 'says for ever that it is alive',
      respond: streamThat(finished + usage, (response) => {
        const beat = setInterval(() => response.write(lines([{ candidates: [] }])), 20);
        response.on('close', () => clearInterval(beat));
      }),
      hasUsage: true,
    },
  ])('a finished answer whose stream $name is kept', async ({ respond, hasUsage }, context) => {
    const { model, requests } = await startModelThat(context, respond, options);

    const chunks = await collect(model.stream(request, never));

    expect(textOf(chunks)).toBe('Noted.');
    expect(chunks.some(({ finishReason }) => finishReason === 'STOP')).toBe(true);
    expect(chunks.some((chunk) => chunk.usage !== undefined)).toBe(hasUsage);
    expect(requests()).toBe(1);
  });

  const firstHalf = (finishReason: string | null) =>
    lines([{ candidates: [{ content: { parts: [{ text: '5 mg, ' }] }, finishReason }] }]);
  const otherHalf = (finishReason?: string) =>
    lines([{ candidates: [{ content: { parts: [{ text: 'not 50.' }] }, finishReason }] }]);

  test.for([null, '', 'FINISH_REASON_UNSPECIFIED', 'STOP'])(
    'an answer whose first half comes with the finish reason %s arrives whole',
    async (reason, context) => {
      const respond = streamThat(firstHalf(reason), (response) => {
        setTimeout(() => response.end(otherHalf('STOP')), 20);
      });
      const { model } = await startModelThat(context, respond);

      expect(textOf(await collect(model.stream(request, never)))).toBe('5 mg, not 50.');
    },
  );

  test.for([
    { name: 'falls silent', respond: streamThat(firstHalf('STOP') + otherHalf('STOP')) },
    { name: 'is closed without another', respond: streamOf(firstHalf('STOP') + otherHalf()) },
    { name: 'is reset', respond: streamThat(firstHalf('STOP') + otherHalf('STOP'), reset) },
  ])(
    'an answer that goes on behind its finish is an error when its stream $name',
    async ({ respond }, context) => {
      const { model } = await startModelThat(context, respond, options);

      const { failure } = await collectUntilFailure(model.stream(request, never));

      expect(failure?.retryable).toBe(true);
    },
  );
});

test('a stream tells what Google’s tools found: pages, the passages that they bear out, addresses that were read', async (context) => {
  const won = 'España won Euro 2024.';
  const place = 'The final was in Berlin.';
  const uefa = { url: 'https://uefa.com/euro', title: 'uefa.com' };
  const status = (name: string) => `URL_RETRIEVAL_STATUS_${name}`;
  const last = {
    candidates: [
      {
        content: { parts: [{ text: `${won}\n${place}` }] },
        finishReason: 'STOP',
        groundingMetadata: {
          webSearchQueries: ['who won Euro 2024'],
          searchEntryPoint: { renderedContent: '<div class="chips">who won</div>' },
          groundingChunks: [
            { web: { uri: 'javascript:alert(1)', title: 'x' } },
            { web: { uri: uefa.url, title: uefa.title } },
          ],
          groundingSupports: [
            { segment: { startIndex: 0, endIndex: 22, text: won }, groundingChunkIndices: [1] },
            { segment: { startIndex: 23, endIndex: 47, text: place }, groundingChunkIndices: [1] },
          ],
        },
        urlContextMetadata: {
          urlMetadata: [
            { retrievedUrl: 'https://example.com/a', urlRetrievalStatus: status('SUCCESS') },
            { retrievedUrl: 'https://example.com/b', urlRetrievalStatus: status('ERROR') },
          ],
        },
      },
    ],
    usageMetadata: { ...usageMetadata, toolUsePromptTokenCount: 7 },
  };
  const { model } = await startModelThat(context, streamOf(lines([last])));

  const [chunk] = await collect(model.stream(request, never));

  const claims = [
    { text: won, startByte: 0 },
    { text: place, startByte: 23 },
  ];
  expect(chunk?.grounding && addReport(undefined, chunk.grounding)).toEqual({
    sources: [
      { ...uefa, claims },
      { url: 'https://example.com/a', claims: [] },
    ],
    queries: ['who won Euro 2024'],
    suggestions: '<div class="chips">who won</div>',
  });
  expect(chunk).toMatchObject({ finishReason: 'STOP', usage: { toolTokens: 7 } });
});
