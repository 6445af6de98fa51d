import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createGeminiModel,
  type GeminiModelOptions,
} from '../../functions/src/adapters/gemini-model.ts';
import { retryDelayMs } from '../../functions/src/adapters/gemini-retry.ts';
import type { QueuedFault } from '../../infra/local/stand-in/faults.ts';
import { type StandIn, startStandIn } from '../../infra/local/stand-in/start-stand-in.ts';
import { textTokens } from '../../infra/local/stand-in/token-rule.ts';
import type { Content, Part } from '../../shared/conversation/content.ts';
import { AppError } from '../../shared/errors.ts';
import type { ModelChunk, ModelRequest, Prompt } from '../../shared/ports.ts';

let standIn: StandIn;
beforeEach(async () => {
  standIn = await startStandIn();
});
afterEach(() => standIn.close());

const never = new AbortController().signal;
const secret = 'The vault code is 7731-SECRET and it must stay between us, whatever anybody says.';
const contents: Content[] = [
  { role: 'user', parts: [{ text: secret }] },
  { role: 'model', parts: [{ text: 'Noted.' }] },
  { role: 'user', parts: [{ text: 'What is the vault code?' }] },
];
const request: ModelRequest = {
  model: 'gemini-2.5-flash',
  contents,
  role: 'chat',
  promptId: 't_17',
};

function connect(options: Partial<GeminiModelOptions> = {}) {
  return createGeminiModel({
    apiKey: 'no-key',
    baseUrl: standIn.url,
    firstEventTimeoutMs: 5_000,
    eventIdleTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
    ...options,
  });
}

async function collect(chunks: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const collected: ModelChunk[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

function textOf(chunks: readonly ModelChunk[]): string {
  return chunks.flatMap((chunk) => chunk.parts.map((part) => part.text ?? '')).join('');
}

/** The AppError that the work ends with; anything else fails the test. */
async function failureOf(work: Promise<unknown>): Promise<AppError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw new Error('no AppError', { cause: error });
  return error;
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error('the expected state was not reached');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a stream', () => {
  test('gives the answer in chunks, the last with its finishReason, usage cumulative', async () => {
    const chunks = await collect(connect().stream(request, never));

    expect(textOf(chunks)).toBe(secret);
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.findIndex((chunk) => chunk.finishReason === 'STOP')).toBe(chunks.length - 1);
    expect(chunks.at(-1)?.usage).toEqual({
      promptTokens: standIn.journal()[0]?.promptTokens,
      cachedTokens: 0,
      outputTokens: textTokens(secret),
      thoughtsTokens: 0,
    });
  });

  test('names role and prompt id in headers', async () => {
    await collect(connect().stream({ ...request, promptId: 'r1-verify é' }, never));

    expect(standIn.journal()[0]).toMatchObject({ role: 'chat', promptId: 'r1-verify__' });
  });

  test('reports tokens from the implicit cache', async () => {
    const long: Content = { role: 'user', parts: [{ text: 'word '.repeat(4_000) }] };
    const gemini = connect();

    await collect(gemini.stream({ ...request, contents: [long] }, never));
    const again = await collect(
      gemini.stream({ ...request, contents: [long, ...contents] }, never),
    );

    expect(again.at(-1)?.usage?.cachedTokens).toBe(5_000);
  });

  test.each([1, 2, 3, 7])('reads text whose bytes arrive %i at a time', async (sizeBytes) => {
    const text = '안녕하세요 👩‍👩‍👧 مرحبا, das sind 4-Byte-Zeichen: 💜💜💜.';
    standIn.queueFaults({ kind: 'splitBytes', sizeBytes });
    const question: Content = { role: 'user', parts: [{ text: 'Which 4-Byte-Zeichen?' }] };

    const chunks = await collect(
      connect().stream(
        { ...request, contents: [{ role: 'user', parts: [{ text }] }, question] },
        never,
      ),
    );

    expect(textOf(chunks)).toBe(text);
  });

  test('closes the connection when it is left early', async () => {
    standIn.setTiming({ tokensPerSecond: 20 });

    for await (const chunk of connect().stream(request, never)) {
      expect(chunk.parts).toHaveLength(1);
      break;
    }

    await until(() => standIn.journal()[0]?.aborted === true);
  });
});

describe('parts', () => {
  const answer: Part[] = [
    { text: 'thinking', thought: true },
    {
      functionCall: { name: 'find', args: { code: 1 }, id: 'f1' },
      thoughtSignature: 'c2lnbmF0dXJl',
      newField: { nested: [1, null] },
    },
    { functionCall: { name: 'find', args: { code: 2 } } },
  ];
  const call: Content = { role: 'model', parts: answer };
  const response: Content = {
    role: 'user',
    parts: [1, 2].map((code) => ({
      functionResponse: { name: 'find', response: { code }, anotherField: true },
    })),
  };
  const gemini3 = { ...request, model: 'gemini-3.8-flash' };

  test.each(['gemini', 'vertex'])(
    'reach the %s API as they are, unknown fields too',
    async (api) => {
      const vertex = { project: 'demo', location: 'europe-west1' };
      const sent = [{ role: 'user' as const, parts: [{ text: 'Find.' }] }, call, response];

      await connect(api === 'vertex' ? { vertex } : {}).generate(
        { ...gemini3, contents: sent },
        never,
      );

      expect(standIn.journal()[0]).toMatchObject({ api, httpStatus: 200 });
      expect(standIn.requestBody(1)).toMatchObject({ contents: sent });
    },
  );

  test('come back as they are, streamed and whole', async () => {
    const userHash = createHash('sha256').update('What is the vault code?').digest('hex');
    standIn.registerAnswers({ userHash, ordinal: 1, contents: [call] });

    const whole = await connect().generate(gemini3, never);
    const chunks = await collect(connect().stream(gemini3, never));

    expect(whole.parts).toEqual(answer);
    expect(chunks.flatMap((chunk) => chunk.parts)).toEqual(answer);
    expect(whole.usage?.thoughtsTokens).toBe(2);
  });
});

describe('a request', () => {
  test('carries system instruction, tools, limits and schema', async () => {
    await connect().generate(
      {
        ...request,
        systemInstruction: 'Be brief.',
        tools: [{ name: 'find', description: 'Finds.', parametersJsonSchema: { type: 'object' } }],
        maxOutputTokens: 64,
        temperature: 0,
        responseJsonSchema: { type: 'object', properties: {} },
      },
      never,
    );

    expect(standIn.requestBody(1)).toEqual({
      contents,
      systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'find', description: 'Finds.', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
      generationConfig: {
        maxOutputTokens: 64,
        temperature: 0,
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object', properties: {} },
      },
    });
  });
});

interface FaultCase {
  fault: QueuedFault;
  /** The AppError's reason, or the finishReason or blockReason that comes through. */
  ends: string;
  requests: number;
}

const refusals: FaultCase[] = [
  { fault: { kind: 'quota', retryDelayMs: 60_000, times: 9 }, ends: 'MODEL_QUOTA', requests: 1 },
  { fault: { kind: 'quota', retryDelayMs: 20, times: 9 }, ends: 'MODEL_QUOTA', requests: 3 },
  { fault: { kind: 'quota', retryDelayMs: 20 }, ends: 'STOP', requests: 2 },
  { fault: { kind: 'internal', times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  { fault: { kind: 'internal' }, ends: 'STOP', requests: 2 },
  { fault: { kind: 'unavailable', times: 2 }, ends: 'STOP', requests: 3 },
  { fault: { kind: 'htmlBadGateway', times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  {
    fault: { kind: 'http', code: 504, status: 'DEADLINE_EXCEEDED' },
    ends: 'MODEL_TIMEOUT',
    requests: 1,
  },
  {
    fault: { kind: 'http', code: 403, status: 'PERMISSION_DENIED' },
    ends: 'MODEL_REFUSED_REQUEST',
    requests: 1,
  },
  { fault: { kind: 'blockedPrompt', reason: 'SAFETY' }, ends: 'SAFETY', requests: 1 },
  { fault: { kind: 'safety' }, ends: 'SAFETY', requests: 1 },
  { fault: { kind: 'recitation' }, ends: 'RECITATION', requests: 1 },
  { fault: { kind: 'prohibitedContent' }, ends: 'PROHIBITED_CONTENT', requests: 1 },
  { fault: { kind: 'malformedFunctionCall' }, ends: 'MALFORMED_FUNCTION_CALL', requests: 1 },
  { fault: { kind: 'maxTokens' }, ends: 'MAX_TOKENS', requests: 1 },
  { fault: { kind: 'emptyCandidates', shape: 'noParts' }, ends: 'STOP', requests: 1 },
  { fault: { kind: 'delay', delayMs: 30 }, ends: 'STOP', requests: 1 },
  { fault: { kind: 'missingUsage' }, ends: 'STOP', requests: 1 },
];

const brokenStreams: FaultCase[] = [
  { fault: { kind: 'cut', afterEvents: 0, times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  { fault: { kind: 'cut', afterEvents: 0 }, ends: 'STOP', requests: 2 },
  { fault: { kind: 'cut', afterEvents: 1 }, ends: 'MODEL_OVERLOADED', requests: 1 },
  { fault: { kind: 'silentEnd', afterEvents: 0, times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  { fault: { kind: 'silentEnd', afterEvents: 1 }, ends: 'MODEL_OVERLOADED', requests: 1 },
  { fault: { kind: 'halfEvent', afterEvents: 1 }, ends: 'MODEL_OVERLOADED', requests: 1 },
  { fault: { kind: 'errorEvent', afterEvents: 1 }, ends: 'MODEL_OVERLOADED', requests: 1 },
  {
    fault: { kind: 'errorEvent', afterEvents: 1, code: 429, status: 'RESOURCE_EXHAUSTED' },
    ends: 'MODEL_QUOTA',
    requests: 1,
  },
  { fault: { kind: 'emptyCandidates', shape: 'missing' }, ends: 'MODEL_OVERLOADED', requests: 1 },
  { fault: { kind: 'emptyCandidates', shape: 'emptyList' }, ends: 'MODEL_OVERLOADED', requests: 1 },
  { fault: { kind: 'stall', delayMs: 30 }, ends: 'STOP', requests: 1 },
];

const brokenAnswers: FaultCase[] = [
  { fault: { kind: 'cut' }, ends: 'STOP', requests: 2 },
  { fault: { kind: 'halfEvent', times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  { fault: { kind: 'silentEnd', times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  { fault: { kind: 'emptyCandidates', times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
];

describe('faults', () => {
  test.each([...refusals, ...brokenStreams])(
    'a stream under $fault ends with $ends after $requests requests',
    async ({ fault, ends, requests }) => {
      standIn.queueFaults(fault);

      const chunks = collect(connect().stream(request, never));
      const end = await chunks.then(
        (all) => all.at(-1)?.finishReason ?? all.at(-1)?.blockReason,
        (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
      );

      expect(end).toBe(ends);
      expect(standIn.journal()).toHaveLength(requests);
    },
  );

  test.each([...refusals, ...brokenAnswers])(
    'a whole answer under $fault ends with $ends after $requests requests',
    async ({ fault, ends, requests }) => {
      standIn.queueFaults(fault);

      const end = await connect()
        .generate(request, never)
        .then(
          (response) => response.finishReason ?? response.blockReason,
          (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
        );

      expect(end).toBe(ends);
      expect(standIn.journal()).toHaveLength(requests);
    },
  );

  test('text before a break is passed on, and nothing is said twice', async () => {
    standIn.queueFaults({ kind: 'cut', afterEvents: 2 });
    const received: ModelChunk[] = [];

    const failure = await failureOf(
      (async () => {
        for await (const chunk of connect().stream(request, never)) received.push(chunk);
      })(),
    );

    expect(failure.reason).toBe('MODEL_OVERLOADED');
    expect(secret.startsWith(textOf(received))).toBe(true);
    expect(standIn.journal()).toHaveLength(1);
  });

  test('a refused part of an answer is not lost: MAX_TOKENS comes with its text', async () => {
    standIn.queueFaults({ kind: 'maxTokens' });

    const { parts } = await connect().generate(request, never);

    expect(parts[0]?.text?.length).toBeGreaterThan(10);
    expect(secret.startsWith(parts[0]?.text ?? '-')).toBe(true);
  });

  test('missing usage is left out, not invented', async () => {
    standIn.queueFaults({ kind: 'missingUsage' });

    expect(await connect().generate(request, never)).not.toHaveProperty('usage');
  });
});

describe('errors', () => {
  test('a quota error says when to come back', async () => {
    standIn.queueFaults({ kind: 'quota', retryDelayMs: 37_500 });

    const failure = await failureOf(connect().generate(request, never));

    expect(failure).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      reason: 'MODEL_QUOTA',
      retryable: true,
      retryAfterMs: 37_500,
    });
  });

  test('a prompt over the window tells both numbers', async () => {
    standIn.setWindow(request.model, 20);

    const failure = await failureOf(connect().generate(request, never));

    expect(failure).toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_CONTEXT_OVERFLOW',
      retryable: false,
      metadata: {
        promptTokens: String(standIn.journal()[0]?.promptTokens),
        windowTokens: '20',
      },
    });
  });

  test('an unknown model and a wrong prompt are refused, not retried', async () => {
    const unknown = await failureOf(connect().generate({ ...request, model: 'gpt-9' }, never));
    const wrong = await failureOf(
      collect(connect().stream({ ...request, contents: contents.slice(1) }, never)),
    );

    expect(unknown).toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_UNKNOWN',
      metadata: { field: 'model' },
    });
    expect(wrong.metadata).toEqual({ httpStatus: '400', modelStatus: 'INVALID_ARGUMENT' });
    expect(standIn.journal()).toHaveLength(2);
  });

  test('a server that is not there is MODEL_OVERLOADED', async () => {
    const server = await startStandIn();
    await server.close();

    const failure = await failureOf(connect({ baseUrl: server.url }).generate(request, never));

    expect(failure).toMatchObject({ status: 'UNAVAILABLE', reason: 'MODEL_OVERLOADED' });
  });

  test.each<QueuedFault>([
    { kind: 'http', code: 400, status: 'INVALID_ARGUMENT', message: `Invalid value: ${secret}` },
    { kind: 'http', code: 503, status: 'UNAVAILABLE', message: secret, times: 9 },
    { kind: 'http', code: 429, status: 'RESOURCE_EXHAUSTED', message: secret, times: 9 },
    { kind: 'halfEvent', afterEvents: 2 },
  ])('no text of prompt or answer is in the error of $kind $code', async (fault) => {
    standIn.queueFaults(fault);

    const failure = await failureOf(collect(connect().stream(request, never)));
    const cause =
      failure.cause instanceof Error ? [failure.cause.message, failure.cause.stack] : [];
    const said = [
      failure.message,
      failure.publicMessage,
      failure.stack,
      ...cause,
      failure.metadata,
    ];

    expect(JSON.stringify(said)).not.toContain('vault');
  });

  test('an answer that is no JSON does not reach the error either', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: {"candidates": [ ${secret}\n\n`);
    }).listen(0, '127.0.0.1');
    await until(() => server.listening);
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;

    const failure = await failureOf(
      collect(connect({ baseUrl: `http://127.0.0.1:${port}` }).stream(request, never)),
    );
    server.close();
    const said = [failure.message, failure.stack, String(failure.cause)];

    expect(failure.reason).toBe('MODEL_OVERLOADED');
    expect(JSON.stringify(said)).not.toContain('vault');
  });

  test('options that name no server are refused at once', () => {
    expect(() => connect({ apiKey: undefined, baseUrl: undefined })).toThrow(/apiKey, vertex/);
  });
});

describe('time', () => {
  test('a stream that never begins ends with MODEL_TIMEOUT and is not tried again', async () => {
    standIn.queueFaults({ kind: 'hang' });

    const failure = await failureOf(
      collect(connect({ firstEventTimeoutMs: 50 }).stream(request, never)),
    );

    expect(failure).toMatchObject({ status: 'DEADLINE_EXCEEDED', reason: 'MODEL_TIMEOUT' });
    await until(() => standIn.journal()[0]?.aborted === true);
    expect(standIn.journal()).toHaveLength(1);
  });

  test('a stream that falls silent ends with MODEL_TIMEOUT after the idle time', async () => {
    standIn.queueFaults({ kind: 'stall', afterEvents: 2, delayMs: 60_000 });
    const received: ModelChunk[] = [];

    const failure = await failureOf(
      (async () => {
        const chunks = connect({ eventIdleTimeoutMs: 50 }).stream(request, never);
        for await (const chunk of chunks) received.push(chunk);
      })(),
    );

    expect(failure.reason).toBe('MODEL_TIMEOUT');
    expect(received).toHaveLength(2);
    await until(() => standIn.journal()[0]?.aborted === true);
  });

  test('the idle time does not run while the reader is slow', async () => {
    const received: ModelChunk[] = [];

    for await (const chunk of connect({ eventIdleTimeoutMs: 40 }).stream(request, never)) {
      if (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 120));
      received.push(chunk);
    }

    expect(textOf(received)).toBe(secret);
  });

  test.each(['generate', 'countTokens'] as const)(
    '%s ends with MODEL_TIMEOUT',
    async (operation) => {
      standIn.queueFaults({ kind: 'hang' });

      const failure = await failureOf(connect({ requestTimeoutMs: 50 })[operation](request, never));

      expect(failure.reason).toBe('MODEL_TIMEOUT');
    },
  );
});

describe('abort', () => {
  test('before the first event', async () => {
    standIn.queueFaults({ kind: 'hang' });
    const caller = new AbortController();

    const failing = failureOf(collect(connect().stream(request, caller.signal)));
    await until(() => standIn.journal().length === 1);
    caller.abort();

    expect(await failing).toMatchObject({ status: 'CANCELLED', reason: 'ABORTED' });
    await until(() => standIn.journal()[0]?.aborted === true);
  });

  test('between two events', async () => {
    standIn.queueFaults({ kind: 'stall', afterEvents: 1, delayMs: 60_000 });
    const caller = new AbortController();
    const received: ModelChunk[] = [];

    const failure = await failureOf(
      (async () => {
        for await (const chunk of connect().stream(request, caller.signal)) {
          received.push(chunk);
          caller.abort();
        }
      })(),
    );

    expect(failure.reason).toBe('ABORTED');
    expect(received).toHaveLength(1);
  });

  test('while it waits for a retry', async () => {
    standIn.queueFaults({ kind: 'quota', retryDelayMs: 9_000 });
    const caller = new AbortController();

    const failing = failureOf(connect().generate(request, caller.signal));
    await until(() => standIn.journal()[0]?.durationMs !== undefined);
    caller.abort();

    expect((await failing).reason).toBe('ABORTED');
    expect(standIn.journal()).toHaveLength(1);
  });

  test('before the call: nothing is sent', async () => {
    const failure = await failureOf(connect().generate(request, AbortSignal.abort()));

    expect(failure.reason).toBe('ABORTED');
    expect(standIn.journal()).toHaveLength(0);
  });
});

describe('the delay before a retry', () => {
  const failure = (reason: string, retryAfterMs?: number) =>
    new AppError({ status: 'UNAVAILABLE', reason, message: '', publicMessage: '', retryAfterMs });

  test.each([
    { reason: 'MODEL_OVERLOADED', attempt: 0, draw: 1, delayMs: 250 },
    { reason: 'MODEL_OVERLOADED', attempt: 1, draw: 0.5, delayMs: 250 },
    { reason: 'MODEL_OVERLOADED', attempt: 2, draw: 0.5, delayMs: undefined },
    { reason: 'MODEL_QUOTA', attempt: 0, draw: 1, delayMs: 250 },
    { reason: 'MODEL_QUOTA', askedMs: 3_000, attempt: 0, draw: 0, delayMs: 3_000 },
    { reason: 'MODEL_QUOTA', askedMs: 10_000, attempt: 1, draw: 0.5, delayMs: 10_250 },
    { reason: 'MODEL_QUOTA', askedMs: 10_001, attempt: 0, draw: 0, delayMs: undefined },
    { reason: 'MODEL_TIMEOUT', attempt: 0, draw: 0, delayMs: undefined },
    { reason: 'MODEL_REFUSED_REQUEST', attempt: 0, draw: 0, delayMs: undefined },
  ])('after $reason (asked for $askedMs ms), attempt $attempt: $delayMs ms', (example) => {
    const { reason, askedMs, attempt, draw, delayMs } = example;

    expect(retryDelayMs(failure(reason, askedMs), attempt, draw)).toBe(delayMs);
  });
});

describe('countTokens', () => {
  const prompt: Prompt = {
    model: 'gemini-2.5-flash',
    systemInstruction: 'Be brief. 짧게.',
    tools: [{ name: 'find', parametersJsonSchema: { type: 'object' } }],
    contents,
  };
  const vertex = { project: 'demo', location: 'europe-west1' };

  test.each([
    ['the Gemini API', {}],
    ['Vertex AI', { vertex }],
  ])('counts on %s what a call with the same prompt reports', async (_, options) => {
    const gemini = connect(options);

    const counted = await gemini.countTokens(prompt, never);
    const { usage } = await gemini.generate({ ...request, ...prompt }, never);

    expect(counted).toBe(usage?.promptTokens);
  });

  test.each([
    ['the Gemini API', {}],
    ['Vertex AI', { vertex }],
  ])('counts system instruction and tools alone on %s', async (_, options) => {
    const gemini = connect(options);

    const overhead = await gemini.countTokens({ ...prompt, contents: [] }, never);
    const whole = await gemini.countTokens(prompt, never);

    expect(overhead).toBeGreaterThan(10);
    expect(whole).toBeGreaterThan(overhead);
  });

  test('an empty prompt is 0 without a call', async () => {
    const counted = await connect().countTokens({ model: 'gemini-2.5-flash', contents: [] }, never);

    expect(counted).toBe(0);
    expect(standIn.journal()).toHaveLength(0);
  });

  test('is tried again after a 500', async () => {
    standIn.queueFaults({ kind: 'internal', match: { operation: 'countTokens' } });

    expect(await connect().countTokens(prompt, never)).toBeGreaterThan(0);
    expect(standIn.journal()).toHaveLength(2);
  });
});
