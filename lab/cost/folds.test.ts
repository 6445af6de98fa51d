import { describe, expect, test } from 'vitest';
import { findTailStart, listSteps, sumSteps } from './conversation.ts';
import { foldAtThreshold, foldLikeGeminiCli } from './folds.ts';

describe('the steps of a conversation', () => {
  test('repeat the sizes of turns, and know where a turn begins and ends', () => {
    expect(
      listSteps(
        [
          [1, 2, 3, 4],
          [5, 6],
        ],
        3,
      ),
    ).toEqual([
      { inputTokens: 1, outputTokens: 2, isTurnStart: true, isTurnEnd: false },
      { inputTokens: 3, outputTokens: 4, isTurnStart: false, isTurnEnd: true },
      { inputTokens: 5, outputTokens: 6, isTurnStart: true, isTurnEnd: true },
      { inputTokens: 1, outputTokens: 2, isTurnStart: true, isTurnEnd: false },
      { inputTokens: 3, outputTokens: 4, isTurnStart: false, isTurnEnd: true },
    ]);
  });

  test.each([
    { tailTokens: 0, start: 3 },
    { tailTokens: 50, start: 3 },
    { tailTokens: 70, start: 2 },
    { tailTokens: 89, start: 2 },
    { tailTokens: 1_000, start: 0 },
  ])('a tail of $tailTokens tokens begins at step $start', ({ tailTokens, start }) => {
    const sums = sumSteps(
      listSteps(
        [
          [4, 6],
          [10, 10],
          [20, 10],
          [30, 10],
        ],
        4,
      ),
    );

    expect(findTailStart(sums, 4, tailTokens)).toBe(start);
  });
});

describe('Recap', () => {
  const conversation = { steps: listSteps([[1_000, 1_000]], 10) };
  const policy = {
    thresholdTokens: 8_000,
    tailTokens: 2_000,
    snapshotTokens: 1_000,
    rearmFraction: 0.25,
  };

  test('folds after the turn that reaches the threshold, all but the tail', () => {
    // 8,000 after four turns; 3,000 left, 9,000 after three more.
    expect(foldAtThreshold(conversation, policy)).toEqual([
      { end: 4, start: 3 },
      { end: 7, start: 6 },
      { end: 10, start: 9 },
    ]);
  });

  test('waits for new tokens after a swap that left too many', () => {
    const crowded = { ...policy, snapshotTokens: 7_000, rearmFraction: 0.5 };

    // 9,000 left after each swap: due at once, and armed 4,000 tokens later.
    expect(foldAtThreshold(conversation, crowded).map(({ end }) => end)).toEqual([4, 6, 8, 10]);
  });
});

describe('Gemini CLI', () => {
  const policy = {
    thresholdFraction: 0.5,
    keptFraction: 0.3,
    windowTokens: 20_000,
    snapshotTokens: 1_000,
  };

  test('asks at half of the window, and keeps the turns that begin behind 70 %', () => {
    const conversation = { steps: listSteps([[500, 500]], 16), overheadTokens: 0 };

    // 10,000 after ten turns: three stay. 4,000 with the snapshot, 10,000 six turns later: three stay.
    expect(foldLikeGeminiCli(conversation, policy)).toEqual([
      { end: 10, start: 7 },
      { end: 16, start: 13 },
    ]);
  });

  test('keeps nothing where no turn begins behind 70 %', () => {
    const conversation = {
      steps: listSteps(
        [
          [100, 100],
          [2_000, 4_000, 2_000, 2_000],
        ],
        2,
      ),
      overheadTokens: 0,
    };

    expect(foldLikeGeminiCli(conversation, policy)).toEqual([{ end: 3, start: 3 }]);
  });

  test('asks for no other summary after one that made the history longer', () => {
    const conversation = { steps: listSteps([[500, 500]], 30), overheadTokens: 0 };

    expect(foldLikeGeminiCli(conversation, { ...policy, snapshotTokens: 9_000 })).toEqual([
      { end: 10, start: 7, isRefused: true },
    ]);
  });
});
