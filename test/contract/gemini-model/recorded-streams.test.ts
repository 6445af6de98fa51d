import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { AppError } from '#shared/errors.ts';
import { never, request } from '#test/support/gemini-model-calls.ts';
import { openForTest } from '#test/support/open-for-test.ts';

const event = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: {
    promptTokenCount: 8,
    candidatesTokenCount: 12,
    thoughtsTokenCount: 40,
    totalTokenCount: 60,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
  },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'p8Zs',
});
const lines = (events: readonly object[], end: string) =>
  events.map((each) => `data: ${JSON.stringify(each)}${end}${end}`).join('');
const answer = [
  event([{ text: 'Weighing it.', thought: true }]),
  event([{ text: 'Bei 4 °C: ' }]),
  event([{ text: '안녕하세요 👩‍👩‍👧\n\ndata: not an event' }]),
  event([
    { functionCall: { name: 'find', args: { at: [1, null], on: true } }, thoughtSignature: 'c2ln' },
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
  ]),
  event([{ text: '' }], { finishReason: 'STOP', safetyRatings: [] }),
];

/** What servers of Gemini send, as it comes over the wire. */
const streams: { name: string; body: string }[] = [
  { name: 'of the Gemini API, with carriage returns', body: lines(answer, '\r\n') },
  { name: 'with bare line feeds', body: lines(answer, '\n') },
  {
    name: 'with comments between its events',
    body: `: keep-alive\n\n${lines(answer.slice(0, 2), '\n')}: keep-alive\n\n${lines(answer.slice(2), '\n')}`,
  },
  {
    name: 'whose prompt was blocked',
    body: lines([{ promptFeedback: { blockReason: 'SAFETY' } }], '\r\n'),
  },
  {
    name: 'that ends for safety without parts',
    body: lines(
      [event([{ text: 'Half' }]), { candidates: [{ finishReason: 'SAFETY', index: 0 }] }],
      '\r\n',
    ),
  },
  {
    name: 'with an error for an event',
    body: lines(
      [event([{ text: 'Half' }]), { error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }],
      '\r\n',
    ),
  },
  {
    name: 'with an error in the place of events',
    body: JSON.stringify({ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x' } }),
  },
  { name: 'that is cut within an event', body: lines(answer, '\r\n').slice(0, -30) },
  { name: 'without an end', body: lines(answer.slice(0, 3), '\r\n') },
  { name: 'of nothing', body: '' },
];

/** All that a reader tells of a body, and how it ends. */
async function read(body: string, streamReader: 'adapter' | 'sdk') {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(body);
  });
  const { url } = await openForTest(server);
  const model = createGeminiModel({
    baseUrl: url,
    streamReader,
    firstEventTimeoutMs: 5_000,
    eventIdleTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
  });
  const chunks: unknown[] = [];
  try {
    for await (const chunk of model.stream(request, never)) chunks.push(chunk);
    return { chunks };
  } catch (error) {
    return { chunks, reason: error instanceof AppError ? error.reason : String(error) };
  }
}

test.each(streams)('both readers read the same from a stream $name', async ({ body }) => {
  const [ours, theirs] = await Promise.all([read(body, 'adapter'), read(body, 'sdk')]);

  expect(ours).toEqual(theirs);
  expect(ours).not.toEqual({ chunks: [] });
});

test('a whole answer is read with all of its parts', async () => {
  const { chunks } = await read(lines(answer, '\r\n'), 'adapter');

  expect(chunks).toMatchObject(
    answer.map(({ candidates: [candidate] }) => ({ parts: candidate?.content.parts })),
  );
});
