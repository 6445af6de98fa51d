import { describe, expect, test } from 'vitest';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { repairConstants } from '#shared/compaction/ledger/repair/repair-constants.ts';
import { correctionFor } from '#shared/compaction/ledger/verify/correction.ts';

const fact = (text: string, weight = 1): Fact => ({
  kind: 'identifier',
  key: text,
  text,
  tier: 1,
  weight,
  speaker: 'user',
  seqs: [4],
  sentence: `It is ${text}.`,
});
const facts = (count: number) => Array.from({ length: count }, (_, n) => fact(`BK-${n}`, n));
const doubtful = (cut: number, unconfirmed: number) => ({
  id: 'i1',
  section: 'key_knowledge',
  text: 'Something',
  cut: Array.from({ length: cut }, (_, n) => `${n} EUR`),
  unconfirmed: Array.from({ length: unconfirmed }, (_, n) => `${n} chairs`),
});

describe('one more call of the summariser', () => {
  test.each([
    ['all is well', [], []],
    ['a value or two are in nobody’s words', [doubtful(2, 0)], []],
    ['four small values are', [doubtful(0, 4)], []],
    ['one or two facts are missing, which code adds', [], facts(2)],
    [
      'words in quotes are shortened',
      [{ ...doubtful(0, 0), unconfirmed: Array(9).fill('so “it”') }],
      [],
    ],
    ['a little of both is wrong', [doubtful(1, 2)], facts(2)],
  ])('a correction call is skipped where %s', (_what, items, missing) => {
    expect(correctionFor(items, missing)).toBeUndefined();
  });

  test.each([
    ['five small values', [doubtful(0, 5)]],
    ['three that do harm', [doubtful(3, 0)]],
    ['some of both in several items', [doubtful(1, 1), doubtful(1, 0)]],
  ])('a correction call is made for %s that nobody said, and asks only that', (_what, items) => {
    expect(correctionFor(items, facts(2))).toEqual({ items, missing: [] });
  });

  test('a correction call is made for three missing facts, the weightiest first', () => {
    const correction = correctionFor([doubtful(1, 0)], facts(3));

    expect(correction?.items).toEqual([]);
    expect(correction?.missing.map(({ text }) => text)).toEqual(['BK-2', 'BK-1', 'BK-0']);
  });

  test('a correction call asks for a bounded number of facts', () => {
    const correction = correctionFor([], facts(200));

    expect(correction?.missing).toHaveLength(repairConstants.repairFactLimit.value);
  });
});
