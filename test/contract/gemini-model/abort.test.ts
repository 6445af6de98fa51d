import { expect, test } from 'vitest';
import type { ModelChunk } from '#shared/ports/ports.ts';
import {
  collect,
  connect,
  describeWithEachReader,
  failureOf,
  request,
  fakeGemini,
  startFakeGeminiForEachTest,
  until,
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

describeWithEachReader('abort', () => {
  test('a model call aborted before the first event ends', async () => {
    fakeGemini.queueFaults({ kind: 'hang' });
    const caller = new AbortController();

    const failing = failureOf(collect(connect().stream(request, caller.signal)));
    await until(() => fakeGemini.journal().length === 1);
    caller.abort();

    expect(await failing).toMatchObject({ status: 'CANCELLED', reason: 'ABORTED' });
    await until(() => fakeGemini.journal()[0]?.aborted === true);
  });

  test('a model call aborted between two events ends', async () => {
    fakeGemini.queueFaults({ kind: 'stall', afterEvents: 1, delayMs: 60_000 });
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

  test('a model call aborted while it waits for a retry ends', async () => {
    fakeGemini.queueFaults({ kind: 'quota', retryDelayMs: 9_000 });
    const caller = new AbortController();

    const failing = failureOf(connect().generate(request, caller.signal));
    await until(() => fakeGemini.journal()[0]?.durationMs !== undefined);
    caller.abort();

    expect((await failing).reason).toBe('ABORTED');
    expect(fakeGemini.journal()).toHaveLength(1);
  });

  test('a model call aborted beforehand sends nothing', async () => {
    const failure = await failureOf(connect().generate(request, AbortSignal.abort()));

    expect(failure.reason).toBe('ABORTED');
    expect(fakeGemini.journal()).toHaveLength(0);
  });
});
