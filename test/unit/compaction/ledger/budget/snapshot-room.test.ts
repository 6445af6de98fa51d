import { describe, expect, test } from 'vitest';
import {
  measureWideShare,
  roomCharacters,
  snapshotRoom,
  type Folding,
} from '#shared/compaction/ledger/budget/snapshot-room.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';

/** One fold of about a threshold of 20,000 tokens. */
const oneFold: Folding = {
  budgetTokens: 2_000,
  softThresholdTokens: 20_000,
  foldedTokens: 16_000,
  foldedTurns: 40,
  coveredTurns: 40,
  previousTokens: 0,
  calibration: 1,
  wideShare: 0,
};
const roomOf = (folding: Partial<Folding>) => snapshotRoom({ ...oneFold, ...folding });

describe('the room of a snapshot', () => {
  test.each([
    ['is the budget for one fold of a threshold', {}, 2_000],
    ['is the budget for less', { foldedTokens: 8_000 }, 2_000],
    ['is a quarter more for twice as much', { coveredTurns: 80 }, 2_500],
    ['is half more for four times as much', { coveredTurns: 160 }, 3_000],
    ['is never more than that', { coveredTurns: 40_000 }, 3_000],
    ['counts from a usual threshold where there is none', { softThresholdTokens: null }, 2_000],
    ['is more where our estimate is above what the model counts', { calibration: 0.8 }, 2_500],
    ['is less where it is below', { calibration: 1.25 }, 1_600],
  ])('the snapshot budget: %s', (_what, folding, roomTokens) => {
    expect(roomOf(folding).roomTokens).toBe(roomTokens);
  });

  test('the snapshot budget is larger for ideographs until the model reports their tokens', () => {
    expect(roomOf({ wideShare: 1 }).roomTokens).toBeGreaterThan(3_000);
    expect(roomOf({ wideShare: 1, calibration: 0.8 }).roomTokens).toBe(2_500);
  });

  test('a model may write a quarter over its stated budget before items are evicted', () => {
    expect(roomOf({})).toEqual({ roomTokens: 2_000, ceilingTokens: 2_500 });
  });
});

describe('a context gets smaller:', () => {
  test.each([400, 600, 1_000, 2_000, 3_000])(
    'a snapshot of %i folded tokens stays below them with its frame',
    (foldedTokens) => {
      const { roomTokens, ceilingTokens } = roomOf({
        foldedTokens,
        foldedTurns: 2,
        coveredTurns: 2,
      });

      expect(ceilingTokens).toBeGreaterThanOrEqual(roomTokens);
      expect(ceilingTokens).toBeLessThanOrEqual(Math.max(300, 0.85 * foldedTokens - 250));
    },
  );

  test('the snapshot budget counts the replaced snapshot too', () => {
    const folded = { foldedTokens: 1_000, foldedTurns: 2, coveredTurns: 2 };

    expect(roomOf({ ...folded, previousTokens: 1_500 }).roomTokens).toBe(1_875);
    expect(roomOf({ ...folded, previousTokens: 0 }).roomTokens).toBe(600);
  });

  test.each([0, 10, 200])(
    'sections have some budget where %i tokens are folded',
    (foldedTokens) => {
      expect(roomOf({ foldedTokens }).roomTokens).toBe(300);
    },
  );

  test('a snapshot budget below the minimum is kept', () => {
    expect(roomOf({ foldedTokens: 100, budgetTokens: 120 }).roomTokens).toBe(120);
  });
});

describe('the same room in characters', () => {
  test.each([
    ['of letters', 1_600, 0, 4_900],
    ['of ideographs', 1_600, 1, 1_200],
    ['at least', 0, 0, 300],
  ])('the snapshot budget in characters: %s', (...[, tokens, wideShare, characters]) => {
    expect(roomCharacters(tokens, wideShare)).toBe(characters);
  });

  test.each([
    ['Hello there', 0],
    ['我们去里昂', 1],
    ['안녕 abcd', 1 / 3],
    ['?!', 0],
  ])('the budget in characters counts the ideographs and syllables of %j', (user, share) => {
    expect(measureWideShare([saidTurn(1, { user })])).toBeCloseTo(share);
  });
});
