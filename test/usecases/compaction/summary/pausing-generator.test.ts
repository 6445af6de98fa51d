import { describe, expect, test } from 'vitest';
import { createPausingGenerator } from '#functions/models/model-health.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createScriptedModel, type ScriptedAnswer } from '#test/fakes/scripted-model.ts';

const failure = (reason: string, retryAfterMs?: number) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason,
    message: reason,
    publicMessage: reason,
    retryable: true,
    retryAfterMs,
  });

const request = (model = 'gemini-2.5-pro'): ModelRequest => ({
  model,
  contents: [],
  role: 'utility_compressor',
  promptId: 'r1',
});

function paused(answers: readonly ScriptedAnswer[]) {
  const clock = createManualClock();
  const model = createScriptedModel({ answers });
  const { generate } = createPausingGenerator(model, clock);
  const ask = (name?: string) =>
    generate(request(name), new AbortController().signal).then(
      () => 'answered',
      (error: unknown) => (error instanceof AppError ? error.reason : 'unknown'),
    );
  return { clock, model, ask };
}

describe('a model that the worker pauses', () => {
  test('a paused model is not called for as long as its 429 asks', async () => {
    const { clock, model, ask } = paused([failure('MODEL_QUOTA', 45_000), 'fine']);
    await ask();

    clock.advance(44_999);
    const during = await ask();
    clock.advance(1);

    expect([during, await ask()]).toEqual(['MODEL_PAUSED', 'answered']);
    expect(model.calls).toHaveLength(2);
  });

  test('a paused model is not called for 30 s after a 429 without a time', async () => {
    const { clock, ask } = paused([failure('MODEL_QUOTA'), 'fine']);
    await ask();

    clock.advance(29_999);
    const during = await ask();
    clock.advance(1);

    expect([during, await ask()]).toEqual(['MODEL_PAUSED', 'answered']);
  });

  test('a paused model is not called for ten minutes at most', async () => {
    const { clock, ask } = paused([failure('MODEL_QUOTA', 86_400_000), 'fine']);
    await ask();
    clock.advance(600_000);

    expect(await ask()).toBe('answered');
  });

  test('a model may fail twice in a row, and is paused after the third time', async () => {
    const down = failure('MODEL_OVERLOADED', 1_000);
    const { model, ask } = paused([down, down, down, 'fine']);

    const seen = [await ask(), await ask(), await ask(), await ask()];

    expect(seen.at(-1)).toBe('MODEL_PAUSED');
    expect(model.calls).toHaveLength(3);
  });

  test('a model’s failure count restarts with every answer', async () => {
    const down = failure('MODEL_OVERLOADED');
    const { model, ask } = paused([down, down, 'fine', down, down, 'fine']);

    for (let call = 0; call < 6; call++) await ask();

    expect(model.calls).toHaveLength(6);
  });

  test('a paused model does not pause others', async () => {
    const { ask } = paused([failure('MODEL_QUOTA'), 'fine']);
    await ask('gemini-2.5-pro');

    expect(await ask('gemini-2.5-flash')).toBe('answered');
  });

  test('a paused model reports how long it stays paused', async () => {
    const clock = createManualClock();
    const model = createScriptedModel({ answers: [failure('MODEL_QUOTA', 20_000)] });
    const { generate } = createPausingGenerator(model, clock);
    const ask = () => generate(request(), new AbortController().signal);
    await expect(ask()).rejects.toMatchObject({ reason: 'MODEL_QUOTA' });
    clock.advance(5_000);

    await expect(ask()).rejects.toMatchObject({ retryable: true, retryAfterMs: 15_000 });
  });
});
