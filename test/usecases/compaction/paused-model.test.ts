import { expect, test } from 'vitest';
import { createPausingGenerator } from '#functions/models/model-health.ts';
import { AppError } from '#shared/lib/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { type ScriptedAnswer, createScriptedModel } from '#test/fakes/scripted-model.ts';

const failure = (reason: string, retryAfterMs?: number) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason,
    message: reason,
    publicMessage: reason,
    retryable: true,
    retryAfterMs,
  });

/** A model as the worker asks it; resolves to what came of each call. */
function paused(answers: readonly ScriptedAnswer[]) {
  const clock = createManualClock();
  const model = createScriptedModel({ answers });
  const { generate } = createPausingGenerator(model, clock);
  const ask = (name = 'gemini-2.5-pro') =>
    generate(
      { model: name, contents: [], role: 'utility_compressor', promptId: 'r1' },
      new AbortController().signal,
    ).then(
      () => 'answered',
      (error: unknown) => (error instanceof AppError ? [error.reason, error.retryAfterMs] : error),
    );
  return { clock, model, ask };
}

test.each([
  ['for as long as its 429 asks', 45_000, 45_000],
  ['for 30 s after a 429 without a time', undefined, 30_000],
  ['for ten minutes at most', 86_400_000, 600_000],
])('a paused model is not called %s, and says how long', async (_, asks, ms) => {
  const { clock, model, ask } = paused([failure('MODEL_QUOTA', asks), 'fine']);
  await ask();

  clock.advance(ms - 1);
  const during = await ask();
  clock.advance(1);

  expect([during, await ask()]).toEqual([['MODEL_PAUSED', 1], 'answered']);
  expect(model.calls).toHaveLength(2);
});

test('a model may fail twice in a row, and is paused after the third time', async () => {
  const down = failure('MODEL_OVERLOADED', 1_000);
  const { model, ask } = paused([down, down, 'fine', down, down, down, 'fine']);

  for (let call = 0; call < 7; call++) await ask();

  expect(model.calls).toHaveLength(6);
});

test('a paused model does not pause others', async () => {
  const { ask } = paused([failure('MODEL_QUOTA'), 'fine']);
  await ask('gemini-2.5-pro');

  expect(await ask('gemini-2.5-flash')).toBe('answered');
});
