import { expect, test } from 'vitest';
import { EVENT_MAX_CHARACTERS } from '#functions/adapters/google/event-data.ts';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import {
  ERROR_BODY_MAX_BYTES,
  WHOLE_ANSWER_MAX_BYTES,
} from '#functions/adapters/gemini/gemini-transport.ts';
import { collect, failureOf, never, request } from '#test/support/gemini-model-calls.ts';
import { type LongBody, ON_THE_WAY_BYTES, startLongBody } from '#test/support/long-body.ts';

/** A model whose server says one long body to each request. */
async function modelThatSays(body: LongBody) {
  const { url, takenBytes } = await startLongBody(body);
  const connect = (streamReader: 'adapter' | 'sdk' = 'adapter') =>
    createGeminiModel({
      baseUrl: url,
      streamReader,
      firstEventTimeoutMs: 30_000,
      eventIdleTimeoutMs: 30_000,
      requestTimeoutMs: 30_000,
    });
  return { connect, takenBytes };
}

const candidate = '{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"';
const closing = '"}]}}]}';
const events = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };
const readers = ['adapter', 'sdk'] as const;

const longEvents: (Pick<LongBody, 'begin' | 'piece' | 'end'> & { name: string })[] = [
  { name: 'in one line', begin: `data: ${candidate}`, end: `${closing}\n\n` },
  {
    name: 'in many lines',
    begin: '',
    piece: `data: ${'x'.repeat(8_000)}\n`.repeat(8),
    end: '\n\n',
  },
  {
    name: 'that is none',
    begin: '',
    piece: `${'x'.repeat(8_000)}\n`.repeat(8),
    end: '\n\n',
  },
];

test.each(longEvents.flatMap((event) => readers.map((by) => ({ ...event, by }))))(
  'an endless event $name is not read to its end, read by the $by',
  async ({ begin, piece: said, end, by }) => {
    const { connect, takenBytes } = await modelThatSays({
      headers: events,
      begin,
      ...(said && { piece: said }),
      end,
    });

    const failure = await failureOf(collect(connect(by).stream(request, never)));

    expect(failure).toMatchObject({ reason: 'MODEL_OVERLOADED', retryable: true });
    expect(takenBytes()).toBeLessThan(EVENT_MAX_CHARACTERS + ON_THE_WAY_BYTES);
  },
);

test.each(readers)('the %s reader does not treat many events as one long one', async (by) => {
  const { connect } = await modelThatSays({
    headers: events,
    begin: '',
    piece: `data: {"candidates":[],"responseId":"${'x'.repeat(64_000)}"}\r\n\r\n`,
    end: `data: ${candidate}${closing}\r\n\r\n`,
  });

  const chunks = await collect(connect(by).stream(request, never));

  expect(chunks.at(-1)?.finishReason).toBe('STOP');
});

test.each(['generate', 'countTokens'] as const)(
  'a whole answer of %s that is too large is not read to its end',
  async (operation) => {
    const { connect, takenBytes } = await modelThatSays({
      headers: json,
      begin: candidate,
      end: closing,
    });

    const failure = await failureOf(connect()[operation](request, never));

    expect(failure).toMatchObject({ reason: 'MODEL_OVERLOADED', retryable: true });
    expect(takenBytes()).toBeLessThan(WHOLE_ANSWER_MAX_BYTES + ON_THE_WAY_BYTES);
  },
);

const asked = [
  ...readers.map((by) => ({ operation: 'stream' as const, by })),
  { operation: 'generate' as const, by: 'adapter' as const },
  { operation: 'countTokens' as const, by: 'adapter' as const },
];

test.each(asked)(
  'an error body of $operation is not read to its end, and the error is reported, read by the $by',
  async ({ operation, by }) => {
    const { connect, takenBytes } = await modelThatSays({
      status: 400,
      headers: json,
      begin: '{"error":{"code":400,"message":"',
      end: '"}}',
    });
    const model = connect(by);

    const failure = await failureOf(
      operation === 'stream'
        ? collect(model.stream(request, never))
        : model[operation](request, never),
    );

    expect(failure).toMatchObject({
      reason: 'MODEL_REFUSED_REQUEST',
      metadata: { httpStatus: '400' },
    });
    expect(takenBytes()).toBeLessThan(ERROR_BODY_MAX_BYTES + ON_THE_WAY_BYTES);
  },
);
