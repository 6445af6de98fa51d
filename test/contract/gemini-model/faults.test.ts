import { expect, test } from 'vitest';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelChunk } from '#shared/ports/ports.ts';
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
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

interface FaultCase {
  fault: Fault;
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

describeWithEachReader('faults', () => {
  test.each([...refusals, ...brokenStreams])(
    'a stream under $fault ends with $ends after $requests requests',
    async ({ fault, ends, requests }) => {
      fakeGemini.queueFaults(fault);

      const chunks = collect(connect().stream(request, never));
      const end = await chunks.then(
        (all) => all.at(-1)?.finishReason ?? all.at(-1)?.blockReason,
        (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
      );

      expect(end).toBe(ends);
      expect(fakeGemini.journal()).toHaveLength(requests);
    },
  );

  test.each([...refusals, ...brokenAnswers])(
    'a whole answer under $fault ends with $ends after $requests requests',
    async ({ fault, ends, requests }) => {
      fakeGemini.queueFaults(fault);

      const end = await connect()
        .generate(request, never)
        .then(
          (response) => response.finishReason ?? response.blockReason,
          (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
        );

      expect(end).toBe(ends);
      expect(fakeGemini.journal()).toHaveLength(requests);
    },
  );

  test('text streamed before a break is passed on, and nothing is repeated', async () => {
    fakeGemini.queueFaults({ kind: 'cut', afterEvents: 2 });
    const received: ModelChunk[] = [];

    const failure = await failureOf(
      (async () => {
        for await (const chunk of connect().stream(request, never)) received.push(chunk);
      })(),
    );

    expect(failure.reason).toBe('MODEL_OVERLOADED');
    expect(secret.startsWith(textOf(received))).toBe(true);
    expect(fakeGemini.journal()).toHaveLength(1);
  });

  test('text of an answer refused for MAX_TOKENS is passed on', async () => {
    fakeGemini.queueFaults({ kind: 'maxTokens' });

    const { parts } = await connect().generate(request, never);

    expect(parts[0]?.text?.length).toBeGreaterThan(10);
    expect(secret.startsWith(parts[0]?.text ?? '-')).toBe(true);
  });

  test('missing usage of a model answer stays undefined', async () => {
    fakeGemini.queueFaults({ kind: 'missingUsage' });

    expect(await connect().generate(request, never)).not.toHaveProperty('usage');
  });
});
