import { describe, expect, test } from 'vitest';
import { retryDelayMs } from '#functions/adapters/gemini/gemini-model.ts';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { AppError } from '#shared/lib/errors.ts';
import {
  collect,
  collectUntilFailure,
  contents,
  failureOf,
  never,
  request,
  secret,
  startModel,
  until,
} from '#test/support/gemini-model-calls.ts';

interface FaultCase {
  fault: Fault;
  /** The AppError's reason, or the finishReason or blockReason that comes through. */
  ends: string;
  requests: number;
}

/** Of a stream and of a whole answer alike. */
const refusals: FaultCase[] = [
  { fault: { kind: 'quota', retryDelayMs: 60_000, times: 9 }, ends: 'MODEL_QUOTA', requests: 1 },
  { fault: { kind: 'quota', retryDelayMs: 20, times: 9 }, ends: 'MODEL_QUOTA', requests: 3 },
  { fault: { kind: 'internal', times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  { fault: { kind: 'unavailable', times: 2 }, ends: 'STOP', requests: 3 },
  { fault: { kind: 'blockedPrompt', reason: 'SAFETY' }, ends: 'SAFETY', requests: 1 },
];

const streams: FaultCase[] = [
  ...refusals,
  { fault: { kind: 'quota', retryDelayMs: 20 }, ends: 'STOP', requests: 2 },
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
  { fault: { kind: 'emptyCandidates', shape: 'missing' }, ends: 'MODEL_OVERLOADED', requests: 1 },
  { fault: { kind: 'cut', afterEvents: 0, times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
  { fault: { kind: 'cut', afterEvents: 0 }, ends: 'STOP', requests: 2 },
  { fault: { kind: 'halfEvent', afterEvents: 1 }, ends: 'MODEL_OVERLOADED', requests: 1 },
];

const wholeAnswers: FaultCase[] = [
  ...refusals,
  { fault: { kind: 'cut' }, ends: 'STOP', requests: 2 },
  { fault: { kind: 'emptyCandidates', times: 9 }, ends: 'MODEL_OVERLOADED', requests: 3 },
];

describe.concurrent('faults of the model', () => {
  test.for(streams)(
    'a stream under $fault ends with $ends after $requests requests',
    async ({ fault, ends, requests }, context) => {
      const { fakeGemini, model } = await startModel(context);
      fakeGemini.queueFaults(fault);

      const { received, failure } = await collectUntilFailure(model.stream(request, never));

      const { finishReason, blockReason } = received.at(-1) ?? {};
      expect(failure?.reason ?? finishReason ?? blockReason).toBe(ends);
      expect(fakeGemini.journal()).toHaveLength(requests);
    },
  );

  test.for(wholeAnswers)(
    'a whole answer under $fault ends with $ends after $requests requests',
    async ({ fault, ends, requests }, context) => {
      const { fakeGemini, model } = await startModel(context);
      fakeGemini.queueFaults(fault);

      const end = await model.generate(request, never).then(
        (response) => response.finishReason ?? response.blockReason,
        (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
      );

      expect(end).toBe(ends);
      expect(fakeGemini.journal()).toHaveLength(requests);
    },
  );

  test('an answer that is cut off for its length is passed on, without usage where none came', async (context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.queueFaults({ kind: 'maxTokens' }, { kind: 'missingUsage' });

    const { parts, finishReason } = await model.generate(request, never);

    expect(finishReason).toBe('MAX_TOKENS');
    expect(parts[0]?.text?.length).toBeGreaterThan(10);
    expect(await model.generate(request, never)).not.toHaveProperty('usage');
  });

  test('countTokens is retried after a 500', async (context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.queueFaults({ kind: 'internal', match: { operation: 'countTokens' } });

    expect(await model.countTokens(request, never)).toBeGreaterThan(0);
    expect(fakeGemini.journal()).toHaveLength(2);
  });
});

describe.concurrent('errors of the model', () => {
  test('a quota error of the model says when to retry', async (context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.queueFaults({ kind: 'quota', retryDelayMs: 37_500 });

    expect(await failureOf(model.generate(request, never))).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      reason: 'MODEL_QUOTA',
      retryable: true,
      retryAfterMs: 37_500,
    });
  });

  test('an error for a prompt over the window has both token counts', async (context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.setWindow(request.model, 20);

    expect(await failureOf(model.generate(request, never))).toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_CONTEXT_OVERFLOW',
      retryable: false,
      metadata: {
        promptTokens: String(fakeGemini.journal()[0]?.promptTokens),
        windowTokens: '20',
      },
    });
  });

  test('calls with an unknown model or an invalid prompt are refused without a retry', async (context) => {
    const { fakeGemini, model } = await startModel(context);

    const unknown = await failureOf(model.generate({ ...request, model: 'gpt-9' }, never));
    const wrong = await failureOf(
      collect(model.stream({ ...request, contents: contents.slice(1) }, never)),
    );

    expect(unknown).toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_UNKNOWN',
      metadata: { field: 'model' },
    });
    expect(wrong.metadata).toEqual({ httpStatus: '400', modelStatus: 'INVALID_ARGUMENT' });
    expect(fakeGemini.journal()).toHaveLength(2);
  });

  test.for<Fault>([
    { kind: 'http', code: 400, status: 'INVALID_ARGUMENT', message: `Invalid value: ${secret}` },
    { kind: 'http', code: 503, status: 'UNAVAILABLE', message: secret, times: 9 },
    { kind: 'http', code: 429, status: 'RESOURCE_EXHAUSTED', message: secret, times: 9 },
    { kind: 'halfEvent', afterEvents: 2 },
  ])('no text of prompt or answer is in the error of $kind $code', async (fault, context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.queueFaults(fault);

    const failure = await failureOf(collect(model.stream(request, never)));

    const { message, publicMessage, stack, metadata } = failure;
    const cause =
      failure.cause instanceof Error ? [failure.cause.message, failure.cause.stack] : [];
    expect(JSON.stringify([message, publicMessage, stack, metadata, ...cause])).not.toContain(
      'vault',
    );
  });
});

describe.concurrent('time', () => {
  test('a stream that never begins ends with MODEL_TIMEOUT and is not retried', async (context) => {
    const { fakeGemini, model } = await startModel(context, { firstEventTimeoutMs: 3_000 });
    fakeGemini.queueFaults({ kind: 'hang' });

    const failure = await failureOf(collect(model.stream(request, never)));

    expect(failure).toMatchObject({ status: 'DEADLINE_EXCEEDED', reason: 'MODEL_TIMEOUT' });
    await until(() => fakeGemini.journal()[0]?.aborted === true);
    expect(fakeGemini.journal()).toHaveLength(1);
  });

  test('a stream that falls silent ends with MODEL_TIMEOUT after the idle time', async (context) => {
    const { fakeGemini, model } = await startModel(context, { eventIdleTimeoutMs: 1_000 });
    fakeGemini.queueFaults({ kind: 'stall', afterEvents: 2, delayMs: 60_000 });

    const { received, failure } = await collectUntilFailure(model.stream(request, never));

    expect(failure?.reason).toBe('MODEL_TIMEOUT');
    expect(received).toHaveLength(2);
    await until(() => fakeGemini.journal()[0]?.aborted === true);
  });

  test.for(['generate', 'countTokens'] as const)(
    '%s ends with MODEL_TIMEOUT',
    async (operation, context) => {
      const { fakeGemini, model } = await startModel(context, { requestTimeoutMs: 50 });
      fakeGemini.queueFaults({ kind: 'hang' });

      expect((await failureOf(model[operation](request, never))).reason).toBe('MODEL_TIMEOUT');
    },
  );
});

describe.concurrent('a caller who leaves', () => {
  test('a model call aborted before the first event ends, and closes its connection', async (context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.queueFaults({ kind: 'hang' });
    const caller = new AbortController();

    const failing = failureOf(collect(model.stream(request, caller.signal)));
    await until(() => fakeGemini.journal().length === 1);
    caller.abort();

    expect(await failing).toMatchObject({ status: 'CANCELLED', reason: 'ABORTED' });
    await until(() => fakeGemini.journal()[0]?.aborted === true);
  });

  test.for<Fault>([
    { kind: 'stall', afterEvents: 1, delayMs: 60_000 },
    // The end of a finished answer is awaited.
    { kind: 'openEnd' },
  ])('a model call aborted between two events ends: $kind', async (fault, context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.queueFaults(fault);
    const caller = new AbortController();
    const leave = async () => {
      for await (const { finishReason } of model.stream(request, caller.signal))
        if (fault.kind === 'stall' || finishReason !== undefined) caller.abort();
    };

    expect((await failureOf(leave())).reason).toBe('ABORTED');
  });

  test('a model call aborted while it waits for a retry ends', async (context) => {
    const { fakeGemini, model } = await startModel(context);
    fakeGemini.queueFaults({ kind: 'quota', retryDelayMs: 9_000 });
    const caller = new AbortController();

    const failing = failureOf(model.generate(request, caller.signal));
    await until(() => fakeGemini.journal()[0]?.durationMs !== undefined);
    caller.abort();

    expect((await failing).reason).toBe('ABORTED');
    expect(fakeGemini.journal()).toHaveLength(1);
  });
});

const failureFor = (reason: string, retryAfterMs?: number) =>
  new AppError({ status: 'UNAVAILABLE', reason, message: '', publicMessage: '', retryAfterMs });

test.each([
  { reason: 'MODEL_OVERLOADED', attempt: 0, draw: 1, delayMs: 250 },
  { reason: 'MODEL_OVERLOADED', attempt: 1, draw: 0.5, delayMs: 250 },
  { reason: 'MODEL_QUOTA', askedMs: 10_000, attempt: 1, draw: 0.5, delayMs: 10_250 },
  { reason: 'MODEL_QUOTA', askedMs: 10_001, attempt: 0, draw: 0, delayMs: undefined },
  { reason: 'MODEL_TIMEOUT', attempt: 0, draw: 0, delayMs: undefined },
])(
  'the retry delay after $reason (asked for $askedMs ms), attempt $attempt, is $delayMs ms',
  ({ reason, askedMs, attempt, draw, delayMs }) => {
    expect(retryDelayMs(failureFor(reason, askedMs), attempt, draw)).toBe(delayMs);
  },
);
