import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { EVENT_MAX_CHARACTERS } from '#functions/adapters/gemini/gemini-stream.ts';
import {
  ERROR_BODY_MAX_BYTES,
  WHOLE_ANSWER_MAX_BYTES,
} from '#functions/adapters/gemini/gemini-transport.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import {
  collect,
  failureOf,
  modelAt,
  never,
  request,
  secret,
  startModel,
  textOf,
  until,
} from '#test/support/gemini-model-calls.ts';
import { type LongBody, ON_THE_WAY_BYTES, startLongBody } from '#test/support/long-body.ts';

const candidate = '{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"';
const closing = '"}]}}]}';
const events = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };

const longEvents: (Pick<LongBody, 'begin' | 'piece' | 'end'> & { name: string })[] = [
  { name: 'in one line', begin: `data: ${candidate}`, end: `${closing}\n\n` },
  {
    name: 'in many lines',
    begin: '',
    piece: `data: ${'x'.repeat(8_000)}\n`.repeat(8),
    end: '\n\n',
  },
  { name: 'that is none', begin: '', piece: `${'x'.repeat(8_000)}\n`.repeat(8), end: '\n\n' },
];

test.each(longEvents)(
  'an endless event $name is not read to its end',
  async ({ begin, piece, end }) => {
    const body = { begin, end, ...(piece !== undefined && { piece }) };
    const { url, takenBytes } = await startLongBody({ headers: events, ...body });

    const failure = await failureOf(collect(modelAt(url).stream(request, never)));

    expect(failure).toMatchObject({ reason: 'MODEL_OVERLOADED', retryable: true });
    expect(takenBytes()).toBeLessThan(EVENT_MAX_CHARACTERS + ON_THE_WAY_BYTES);
  },
);

test('a long stream of short events is read to its end', async () => {
  const { url } = await startLongBody({
    headers: events,
    begin: '',
    piece: `data: {"candidates":[],"responseId":"${'x'.repeat(64_000)}"}\r\n\r\n`,
    end: `data: ${candidate}${closing}\r\n\r\n`,
  });

  const chunks = await collect(modelAt(url).stream(request, never));

  expect(chunks.at(-1)?.finishReason).toBe('STOP');
});

test('a whole answer that is too large is not read to its end', async () => {
  const { url, takenBytes } = await startLongBody({
    headers: json,
    begin: candidate,
    end: closing,
  });

  const failure = await failureOf(modelAt(url).generate(request, never));

  expect(failure).toMatchObject({ reason: 'MODEL_OVERLOADED', retryable: true });
  expect(takenBytes()).toBeLessThan(WHOLE_ANSWER_MAX_BYTES + ON_THE_WAY_BYTES);
});

test('an endless error body is not read to its end, and the error is reported', async () => {
  const { url, takenBytes } = await startLongBody({
    status: 400,
    headers: json,
    begin: '{"error":{"code":400,"message":"',
    end: '"}}',
  });

  const failure = await failureOf(collect(modelAt(url).stream(request, never)));

  expect(failure).toMatchObject({
    reason: 'MODEL_REFUSED_REQUEST',
    metadata: { httpStatus: '400' },
  });
  expect(takenBytes()).toBeLessThan(ERROR_BODY_MAX_BYTES + ON_THE_WAY_BYTES);
});

test('a model stream that is left early closes the connection', async (context) => {
  const { fakeGemini, model } = await startModel(context);
  fakeGemini.setTiming({ tokensPerSecond: 20 });

  for await (const chunk of model.stream(request, never)) {
    expect(chunk.parts).toHaveLength(1);
    break;
  }

  await until(() => fakeGemini.journal()[0]?.aborted === true);
});

test('an answer whose connection stays open is kept, and the connection is closed', async (context) => {
  const { fakeGemini, model } = await startModel(context, { eventIdleTimeoutMs: 400 });
  fakeGemini.queueFaults({ kind: 'openEnd' });

  const chunks = await collect(model.stream(request, never));

  expect(textOf(chunks)).toBe(secret);
  await until(() => fakeGemini.journal()[0]?.aborted === true);
});

/** A model behind a server that answers each connection once, then closes it when it is used again. */
async function onceAConnection({ answers = Infinity } = {}) {
  const served = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let parallel = 1;
  const server = createServer((incoming, response) => {
    const { socket } = incoming;
    if (served.has(socket) || served.size >= answers) {
      socket.destroy();
      return;
    }
    served.add(socket);
    incoming.resume();
    waiting.push(() =>
      response.setHeader('content-type', 'application/json').end(`${candidate}Fine.${closing}`),
    );
    if (waiting.length === parallel) for (const say of waiting.splice(0)) say();
  });
  const { url, close } = await openServer(server);
  onTestFinished(close);
  const model = modelAt(url);
  return {
    served,
    /** So many calls, answered when all of them are there. */
    call: (count: number) => {
      parallel = count;
      return Promise.all(Array.from({ length: count }, () => model.generate(request, never)));
    },
  };
}

test('a call that finds every kept connection closed is answered over a new one', async () => {
  const { served, call } = await onceAConnection();
  await call(6);

  const [again] = await call(1);

  expect(again?.parts).toEqual([{ text: 'Fine.' }]);
  expect(served.size).toBe(7);
});

test('a call that a new connection refuses, too, fails as before', async () => {
  const { call } = await onceAConnection({ answers: 1 });
  await call(1);

  expect(await failureOf(call(1))).toMatchObject({ reason: 'MODEL_OVERLOADED' });
});
