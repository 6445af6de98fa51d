import { describe, expect, test } from 'vitest';
import {
  contextTokens,
  meterAfterTurn,
  nextCalibration,
} from '../../../shared/conversation/meter.ts';
import { continuedHistory } from '../../../shared/conversation/next-generation.ts';
import { pinnedTokens } from '../../../shared/conversation/pinned-tokens.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';

const turn = (seq: number, tokens: { user: number; answer: number }, inContext = true) =>
  ({ seq, tokens, inContext }) as Turn;

const context = {
  tokens: 1_000,
  overheadTokens: 100,
  calibration: 1.5,
  source: 'reported' as const,
  generation: 2,
  seq: 7,
};

describe('tokens of the context', () => {
  test('are what the model reported, while the report is about this generation', () => {
    const source = {
      head: { context, generation: 2, pins: [] },
      history: undefined,
      turns: [turn(7, { user: 5, answer: 5 })],
    };

    expect(contextTokens(source)).toEqual({ tokens: 1_000, source: 'reported' });
  });

  test('grow by the calibrated estimate of later turns', () => {
    const source = {
      head: { context, generation: 2, pins: [] },
      history: undefined,
      turns: [
        turn(7, { user: 5, answer: 5 }),
        turn(8, { user: 10, answer: 30 }),
        turn(9, { user: 99, answer: 0 }, false),
      ],
    };

    expect(contextTokens(source)).toEqual({ tokens: 1_060, source: 'reported' });
  });

  test('are derived from stored counts after a swap', () => {
    const source = {
      head: { context, generation: 3, pins: [] },
      history: undefined,
      turns: [turn(7, { user: 10, answer: 10 })],
    };

    expect(contextTokens(source)).toEqual({ tokens: 130, source: 'estimated' });
  });
});

describe('pins', () => {
  const pins = [{ id: 'p', text: 'The user is allergic to hazelnuts.', source: 'api' as const }];
  const source = { history: undefined, turns: [turn(7, { user: 10, answer: 10 })] };
  const ownTokens = pinnedTokens(pins, undefined);

  test('count with what was not sent yet, and no longer once they are gone', () => {
    const sent = { ...context, pinTokens: ownTokens };

    const put = contextTokens({ ...source, head: { context, generation: 2, pins } });
    const kept = contextTokens({ ...source, head: { context: sent, generation: 2, pins } });
    const deleted = contextTokens({ ...source, head: { context: sent, generation: 2, pins: [] } });

    expect(put.tokens).toBe(Math.ceil(1_000 + 1.5 * ownTokens));
    expect(kept.tokens).toBe(1_000);
    expect(deleted.tokens).toBe(Math.ceil(1_000 - 1.5 * ownTokens));
  });

  test('count where all is estimated', () => {
    const head = { context, generation: 3, pins };

    expect(contextTokens({ ...source, head }).tokens).toBe(Math.ceil(130 + 1.5 * ownTokens));
  });

  test('that were sent are remembered with the report', () => {
    const usage = { promptTokens: 400, cachedTokens: 0, outputTokens: 20, thoughtsTokens: 0 };
    const before = { ...source, head: { context, generation: 2, pins } };
    const ended = { seq: 8, overheadTokens: 100, userTokens: 100, answerTokens: 15, usage };

    const meter = meterAfterTurn({ before, ...ended });

    expect(meter).toMatchObject({ tokens: 420, pinTokens: ownTokens });
  });
});

test('of a turn that is folded inside only what still stands is counted', () => {
  const history = {
    ...continuedHistory({
      head: { generation: 2 },
      source: undefined,
      state: 'RESTORED',
      changedSeqs: [],
      requestId: 'r',
      by: 'w',
      now: new Date(0),
      beforeTokens: 0,
      afterTokens: 0,
    }),
    coveredThrough: { seq: 7, contentIndex: 3 },
  };
  const contents = Array.from({ length: 4 }, () => ({ role: 'model', parts: [{ text: 'word' }] }));
  const folded = { ...turn(7, { user: 10, answer: 40 }), contents } as Turn;

  const { tokens } = contextTokens({
    head: { context, generation: 3, pins: [] },
    history,
    turns: [folded],
  });

  expect(tokens).toBe(context.overheadTokens + context.calibration * (10 + 10));
});

describe('the meter after a turn', () => {
  const before = {
    head: { context, generation: 2, pins: [] },
    history: undefined,
    turns: [turn(7, { user: 50, answer: 50 })],
  };

  test('is prompt plus answer as reported, thoughts not counted', () => {
    const usage = { promptTokens: 400, cachedTokens: 0, outputTokens: 20, thoughtsTokens: 500 };

    const meter = meterAfterTurn({
      before,
      seq: 8,
      overheadTokens: 100,
      userTokens: 100,
      answerTokens: 15,
      usage,
    });

    expect(meter).toMatchObject({ tokens: 420, source: 'reported', generation: 2, seq: 8 });
  });

  test('is an estimate when the model reported nothing', () => {
    const meter = meterAfterTurn({
      before,
      seq: 8,
      overheadTokens: 100,
      userTokens: 100,
      answerTokens: 20,
      usage: undefined,
    });

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
