import { pinBudget } from '#shared/conversation/context/pins.ts';
import { wholeOutputs } from '#shared/conversation/context/sent-view.ts';
import {
  contextTokens,
  meterAfterTurn,
  nextCalibration,
  type MeteredTurn,
} from '#shared/conversation/context/meter.ts';
import { describe, expect, test } from 'vitest';

const counting = { rule: 'character-class' } as const;
const whole = wholeOutputs({ counting });

const turn = (
  seq: number,
  tokens: { user: number; answer: number },
  inContext = true,
): MeteredTurn => ({ seq, tokens, inContext, user: { role: 'user', parts: [] }, contents: [] });

const context = {
  tokens: 1_000,
  overheadTokens: 100,
  calibration: 1.5,
  source: 'reported' as const,
  generation: 2,
  seq: 7,
};

test('the context’s tokens grow by the calibrated estimate of later turns', () => {
  const source = {
    conversation: { context, generation: 2, pins: [] },
    history: undefined,
    turns: [
      turn(7, { user: 5, answer: 5 }),
      turn(8, { user: 10, answer: 30 }),
      turn(9, { user: 99, answer: 0 }, false),
    ],
  };

  expect(contextTokens(source, whole)).toEqual({ tokens: 1_060, source: 'reported' });
});

describe('the meter after a turn', () => {
  const before = {
    conversation: { context, generation: 2, pins: [] },
    history: undefined,
    turns: [turn(7, { user: 50, answer: 50 })],
  };

  test('the meter after a turn is prompt plus answer as reported, without thoughts', () => {
    const usage = { promptTokens: 400, cachedTokens: 0, outputTokens: 20, thoughtsTokens: 500 };

    const meter = meterAfterTurn(
      {
        before,
        own: turn(8, { user: 100, answer: 15 }),
        overheadTokens: 100,
        answerTokens: 15,
        usage,
      },
      whole,
    );

    expect(meter).toMatchObject({ tokens: 420, source: 'reported', generation: 2, seq: 8 });
  });

  test('the meter after a turn is an estimate when the model reported nothing', () => {
    const meter = meterAfterTurn(
      {
        before,
        own: turn(8, { user: 100, answer: 20 }),
        overheadTokens: 100,
        answerTokens: 20,
        usage: undefined,
      },
      whole,
    );

    expect(meter).toMatchObject({ tokens: 480, source: 'estimated', calibration: 1.5 });
  });
});

test.each([
  [{ reportedTokens: 200, estimatedTokens: 100 }, 1.2],
  [{ reportedTokens: 50, estimatedTokens: 100 }, 0.9],
  [{ reportedTokens: 100_000, estimatedTokens: 100 }, 1.2],
  [{ reportedTokens: 100, estimatedTokens: 0 }, 1],
])('a report of %o moves a calibration of 1 to %d', (observed, expected) => {
  expect(nextCalibration(1, observed)).toBeCloseTo(expected, 9);
});

test.each([
  ['the default threshold', 24_000, 48_000, 1_000],
  ['a small threshold', 1_000, 2_000, 125],
  ['no threshold', null, 800_000, 1_000],
  ['no threshold and a small window', null, 800, 100],
])('the pin budget with %s', (...[, softThresholdTokens, hardThresholdTokens, expected]) => {
  const policy = { softThresholdTokens, hardThresholdTokens };

  expect(pinBudget(policy, { calibration: 1.5 })).toEqual({
    budgetTokens: expected,
    calibration: 1.5,
  });
});
