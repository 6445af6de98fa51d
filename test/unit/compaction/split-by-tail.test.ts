import {
  type SizedTurn,
  findFoldPoint,
  splitInside,
  tailStart,
} from '#shared/compaction/split-by-tail.ts';
import { describe, expect, test } from 'vitest';

const limits = { targetTokens: 400, capTokens: 600, turnCapTokens: 600, minimumTokens: 100 };

const sized = (seq: number, tokens: number, overrides: Partial<SizedTurn> = {}): SizedTurn => ({
  seq,
  userTokens: 0,
  blocks: [{ end: 1, tokens }],
  tokens,
  isDropped: false,
  isResponse: false,
  ...overrides,
});

const turnsOf = (...tokens: number[]) => tokens.map((each, index) => sized(index + 1, each));

/** One turn of blocks, each a call and its response. */
const run = (userTokens: number, ...blocks: number[]): SizedTurn =>
  sized(1, userTokens + blocks.reduce((sum, tokens) => sum + tokens, 0), {
    userTokens,
    blocks: blocks.map((tokens, index) => ({ end: 2 * (index + 1), tokens })),
  });

test.each<[string, SizedTurn[], number]>([
  ['of nothing', [], 0],
  ['of one turn, whatever its size', turnsOf(9_000), 0],
  ['leaves the newest within the target', turnsOf(100, 100, 100, 100, 100, 100), 2],
  ['is the newest when that fills the cap', turnsOf(100, 100, 600), 2],
  ['is the newest alone when a second would pass the cap', turnsOf(100, 301, 300), 2],
  ['is a second one within the cap', turnsOf(100, 300, 300), 1],
  ['is no third one beyond the target', turnsOf(100, 150, 300), 1],
  [
    'comes behind a turn to drop once the minimum is kept',
    [...turnsOf(50, 50), sized(3, 10, { isDropped: true }), sized(4, 100)],
    3,
  ],
  [
    'is none to drop, even where the minimum is not kept',
    [sized(1, 500), sized(2, 10, { isDropped: true }), sized(3, 50)],
    2,
  ],
  ['is the newest though that is to drop', [sized(1, 900), sized(2, 50, { isDropped: true })], 1],
  [
    'brings the turn whose call a response answers',
    [sized(1, 100), sized(2, 500), sized(3, 350, { isResponse: true })],
    1,
  ],
])('the first turn that stays: %s', (_, turns, expected) => {
  expect(tailStart(turns, limits)).toBe(expected);
});

test.each<[string, SizedTurn, number | undefined]>([
  ['keeps what the target leaves room for', run(100, 500, 200, 200, 100), 4],
  ['keeps one block at least', run(100, 500, 500), 2],
  ['keeps the minimum where the cap allows it', run(100, 500, 550, 50), 2],
  ['keeps less than the minimum where the cap does not', run(100, 500, 700, 50), 4],
  ['keeps the minimum beside a long message', run(5_000, 100, 60, 60), 2],
  ['has no boundary in a single block', run(100, 5_000), undefined],
])('a turn folded inside: %s', (_, turn, contentIndex) => {
  expect(splitInside(turn, limits)?.contentIndex).toBe(contentIndex);
});

describe('the fold point', () => {
  test('the fold point lies before the first turn that stays', () => {
    expect(findFoldPoint(turnsOf(100, 100, 100), 2, limits)).toEqual({ seq: 2, contentIndex: 0 });
  });

  test('the fold point includes turns outside of the context', () => {
    const turns = [sized(1, 100), sized(7, 100)];

    expect(findFoldPoint(turns, 1, limits)).toEqual({ seq: 6, contentIndex: 0 });
  });

  test('the fold point lies inside a newest turn that exceeds the cap', () => {
    const turns = [sized(1, 100), { ...run(100, 500, 100), seq: 2 }];

    expect(findFoldPoint(turns, 1, limits)).toEqual({ seq: 2, contentIndex: 2 });
  });
});
