import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { openForTest } from '#test/support/open-for-test.ts';
import {
  collect,
  connect,
  contents,
  describeWithEachReader,
  failureOf,
  never,
  request,
  secret,
  fakeGemini,
  startFakeGeminiForEachTest,
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

describeWithEachReader('errors', () => {
  test('a quota error of the model says when to retry', async () => {
    fakeGemini.queueFaults({ kind: 'quota', retryDelayMs: 37_500 });

    const failure = await failureOf(connect().generate(request, never));

    expect(failure).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      reason: 'MODEL_QUOTA',
      retryable: true,
      retryAfterMs: 37_500,
    });
  });

  test('an error for a prompt over the window has both token counts', async () => {
    fakeGemini.setWindow(request.model, 20);

    const failure = await failureOf(connect().generate(request, never));

    expect(failure).toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'MODEL_CONTEXT_OVERFLOW',
      retryable: false,
      metadata: {
        promptTokens: String(fakeGemini.journal()[0]?.promptTokens),
        windowTokens: '20',
      },
    });
  });

  test('calls with an unknown model or an invalid prompt are refused without a retry', async () => {
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
    expect(fakeGemini.journal()).toHaveLength(2);
  });

  test('a model server that is unreachable gives MODEL_OVERLOADED', async () => {
    const server = await startFakeGemini();
    await server.close();

    const failure = await failureOf(connect({ baseUrl: server.url }).generate(request, never));

    expect(failure).toMatchObject({ status: 'UNAVAILABLE', reason: 'MODEL_OVERLOADED' });
  });

  test.each<Fault>([
    { kind: 'http', code: 400, status: 'INVALID_ARGUMENT', message: `Invalid value: ${secret}` },
    { kind: 'http', code: 503, status: 'UNAVAILABLE', message: secret, times: 9 },
    { kind: 'http', code: 429, status: 'RESOURCE_EXHAUSTED', message: secret, times: 9 },
    { kind: 'halfEvent', afterEvents: 2 },
  ])('no text of prompt or answer is in the error of $kind $code', async (fault) => {
    fakeGemini.queueFaults(fault);

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

  test('a model answer that is no JSON is not quoted in the error', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: {"candidates": [ ${secret}\n\n`);
    });
    const { url } = await openForTest(server);

    const failure = await failureOf(collect(connect({ baseUrl: url }).stream(request, never)));
    const said = [failure.message, failure.stack, String(failure.cause)];

    expect(failure.reason).toBe('MODEL_OVERLOADED');
    expect(JSON.stringify(said)).not.toContain('vault');
  });

  test('model options that name no server are refused at once', () => {
    expect(() => connect({ apiKey: undefined, baseUrl: undefined })).toThrow(/apiKey, vertex/);
  });
});
