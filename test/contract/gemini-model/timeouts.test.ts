import { expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
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
  until,
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

describeWithEachReader('time', () => {
  test('a stream that never begins ends with MODEL_TIMEOUT and is not retried', async () => {
    fakeGemini.queueFaults({ kind: 'hang' });

    const failure = await failureOf(
      collect(connect({ firstEventTimeoutMs: 3_000 }).stream(request, never)),
    );

    expect(failure).toMatchObject({ status: 'DEADLINE_EXCEEDED', reason: 'MODEL_TIMEOUT' });
    await until(() => fakeGemini.journal()[0]?.aborted === true);
    expect(fakeGemini.journal()).toHaveLength(1);
  });

  test('a stream that falls silent ends with MODEL_TIMEOUT after the idle time', async () => {
    fakeGemini.queueFaults({ kind: 'stall', afterEvents: 2, delayMs: 60_000 });
    const received: ModelChunk[] = [];

    const failure = await failureOf(
      (async () => {
        const chunks = connect({ eventIdleTimeoutMs: 1_000 }).stream(request, never);
        for await (const chunk of chunks) received.push(chunk);
      })(),
    );

    expect(failure.reason).toBe('MODEL_TIMEOUT');
    expect(received).toHaveLength(2);
    await until(() => fakeGemini.journal()[0]?.aborted === true);
  });

  test('the idle timeout of a stream does not run while its reader is slow', async () => {
    const received: ModelChunk[] = [];

    for await (const chunk of connect({ eventIdleTimeoutMs: 1_000 }).stream(request, never)) {
      if (received.length === 0) await systemClock.wait(1_500);
      received.push(chunk);
    }

    expect(textOf(received)).toBe(secret);
  });

  test.each(['generate', 'countTokens'] as const)(
    '%s ends with MODEL_TIMEOUT',
    async (operation) => {
      fakeGemini.queueFaults({ kind: 'hang' });

      const failure = await failureOf(connect({ requestTimeoutMs: 50 })[operation](request, never));

      expect(failure.reason).toBe('MODEL_TIMEOUT');
    },
  );
});
