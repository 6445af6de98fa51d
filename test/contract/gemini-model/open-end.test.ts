import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import {
  collect,
  connect,
  describeWithEachReader,
  failureOf,
  never,
  request,
  secret,
  fakeGemini,
  startFakeGeminiForEachTest,
  textOf,
  until,
} from '#test/support/gemini-model-calls.ts';
import { openForTest } from '#test/support/open-for-test.ts';

startFakeGeminiForEachTest();

/** Longer than a test may take: what waits for it fails. */
const PATIENCE_MS = 60_000;
/** Longest silence between two events, and behind a finish. */
const SILENCE_MS = 400;

const event = (body: object) => `data: ${JSON.stringify(body)}\r\n\r\n`;
const said = { content: { role: 'model', parts: [{ text: 'Noted.' }] }, finishReason: 'STOP' };
const finished = event({ candidates: [said] });
const usage = event({ usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 2 } });
const failure = event({ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } });

/** A model whose server begins a stream and leaves its end to `send`. */
async function modelThat(send: (response: ServerResponse) => void) {
  let requests = 0;
  const { url } = await openForTest(
    createServer((_, response) => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send(response);
    }),
  );
  const limits = { firstEventTimeoutMs: PATIENCE_MS, requestTimeoutMs: PATIENCE_MS };
  const streamed = (streamReader: 'adapter' | 'sdk', signal = never) =>
    createGeminiModel({
      baseUrl: url,
      ...limits,
      eventIdleTimeoutMs: SILENCE_MS,
      streamReader,
    }).stream(request, signal);
  return { streamed, requests: () => requests };
}

describeWithEachReader('an answer that is finished', () => {
  test('an answer whose connection stays open is kept, and the connection is closed', async () => {
    fakeGemini.queueFaults({ kind: 'openEnd' });

    const chunks = await collect(
      connect({ eventIdleTimeoutMs: SILENCE_MS }).stream(request, never),
    );

    expect(textOf(chunks)).toBe(secret);
    expect(chunks.at(-1)?.usage).toBeDefined();
    await until(() => fakeGemini.journal()[0]?.aborted === true);
    expect(fakeGemini.journal()).toHaveLength(1);
  });
});

const ends: { name: string; send: (response: ServerResponse) => void; hasUsage: boolean }[] = [
  { name: 'says nothing more', send: (response) => response.write(finished), hasUsage: false },
  {
    name: 'tells the usage a little later and stays open',
    send: (response) => {
      response.write(finished);
      setTimeout(() => response.write(usage), 50);
    },
    hasUsage: true,
  },
  {
    name: 'is reset',
    send: (response) => {
      response.write(finished + usage);
      setTimeout(() => response.socket?.resetAndDestroy(), 50);
    },
    hasUsage: true,
  },
  {
    name: 'ends with an error event',
    send: (response) => response.end(finished + usage + failure),
    hasUsage: true,
  },
  {
    name: 'ends within an event',
    send: (response) => response.end(finished + usage + usage.slice(0, 20)),
    hasUsage: true,
  },
  {
    name: 'says for ever that it is alive',
    send: (response) => {
      response.write(finished + usage);
      const beat = setInterval(() => response.write(event({ candidates: [] })), 20);
      response.on('close', () => clearInterval(beat));
    },
    hasUsage: true,
  },
];

const half = (finishReason: string | null) =>
  event({
    candidates: [{ content: { role: 'model', parts: [{ text: '5 mg, ' }] }, finishReason }],
  });
const otherHalf = (finishReason?: string) =>
  event({ candidates: [{ content: { parts: [{ text: 'not 50.' }] }, finishReason }] });

test.each(
  [null, '', 'FINISH_REASON_UNSPECIFIED', 'STOP'].flatMap((reason) =>
    (['adapter', 'sdk'] as const).map((by) => ({ reason, by })),
  ),
)(
  'an answer whose first half comes with the finish reason $reason arrives whole, read by the $by',
  async ({ reason, by }) => {
    const { streamed } = await modelThat((response) => {
      response.write(half(reason));
      setTimeout(() => response.end(otherHalf('STOP')), 20);
    });

    expect(textOf(await collect(streamed(by)))).toBe('5 mg, not 50.');
  },
);

const brokenEnds: { name: string; send: (response: ServerResponse) => void }[] = [
  { name: 'falls silent', send: (response) => response.write(half('STOP') + otherHalf('STOP')) },
  {
    name: 'is closed without another',
    send: (response) => response.end(half('STOP') + otherHalf()),
  },
  {
    name: 'is reset',
    send: (response) => {
      response.write(half('STOP') + otherHalf('STOP'));
      setTimeout(() => response.socket?.resetAndDestroy(), 50);
    },
  },
];

test.each(brokenEnds)(
  'an answer that goes on behind its finish is an error when its stream $name',
  async ({ send }) => {
    const { streamed } = await modelThat(send);

    expect(await failureOf(collect(streamed('adapter')))).toMatchObject({ retryable: true });
  },
);

test.each(ends.flatMap((end) => (['adapter', 'sdk'] as const).map((by) => ({ ...end, by }))))(
  'a finished answer whose stream $name is kept, read by the $by',
  async ({ send, hasUsage, by }) => {
    const { streamed, requests } = await modelThat(send);

    const chunks = await collect(streamed(by));

    expect(textOf(chunks)).toBe('Noted.');
    expect(chunks.some(({ finishReason }) => finishReason === 'STOP')).toBe(true);
    expect(chunks.some((chunk) => chunk.usage !== undefined)).toBe(hasUsage);
    expect(requests()).toBe(1);
  },
);

test('a caller who leaves while the stream’s end is awaited gets an abort error', async () => {
  const caller = new AbortController();
  const { streamed } = await modelThat((response) => response.write(finished));

  const left = await failureOf(
    (async () => {
      for await (const _ of streamed('adapter', caller.signal)) caller.abort();
    })(),
  );

  expect(left.reason).toBe('ABORTED');
});
