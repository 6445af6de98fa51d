import { describe, expect, test } from 'vitest';
import { containmentScore } from './probe-score.ts';
import { probeFigures, type ProbeResult } from './probe-figures.ts';
import { evenly, foldedProbes } from './probe-selection.ts';
import { parseProbesArguments } from './probes-arguments.ts';

const exchange = (...recordedIndexes: number[]) => ({
  userTexts: [],
  answerTexts: [],
  recordedIndexes,
});

describe('foldedProbes', () => {
  // Turn 1 holds contents 0–2, turn 2 holds 3 and 4, turn 3 holds 5.
  const script = { exchanges: [exchange(0, 1, 2), exchange(3, 4), exchange(5)] };
  const probe = { id: 'p', question: 'q', answer: 'a', category: 'single-hop' };
  const chosen = (change: object) =>
    foldedProbes({ probes: [{ ...probe, ...change }], script, foldedThrough: 2 }).length;

  test.each([
    { title: 'evidence in folded turns', change: { evidenceTurnIndexes: [2, 4] }, expected: 1 },
    { title: 'evidence partly kept', change: { evidenceTurnIndexes: [2, 5] }, expected: 0 },
    { title: 'evidence that is not replayed', change: { evidenceTurnIndexes: [9] }, expected: 0 },
    { title: 'no evidence', change: { evidenceTurnIndexes: [] }, expected: 0 },
    { title: 'no answer', change: { evidenceTurnIndexes: [0], answer: null }, expected: 0 },
    {
      title: 'an adversarial question',
      change: { evidenceTurnIndexes: [0], category: 'adversarial' },
      expected: 0,
    },
  ])('chooses $expected of a probe with $title', ({ change, expected }) => {
    expect(chosen(change)).toBe(expected);
  });

  test('takes an answer that is a number as text', () => {
    const probes = [{ ...probe, answer: 2022, evidenceTurnIndexes: [0] }];

    expect(foldedProbes({ probes, script, foldedThrough: 2 })[0]?.answer).toBe('2022');
  });
});

describe('evenly', () => {
  test.each([
    { items: [1, 2, 3, 4, 5, 6], count: 3, expected: [1, 3, 5] },
    { items: [1, 2], count: 5, expected: [1, 2] },
    { items: [], count: 5, expected: [] },
  ])('takes $count of $items', ({ items, count, expected }) => {
    expect(evenly<number>(items, count)).toEqual(expected);
  });
});

describe('containmentScore', () => {
  test.each([
    { expected: 'Prius', reply: 'He drives a prius.', score: 1 },
    { expected: 'May 7, 2023', reply: 'It was on MAY 7 2023!', score: 1 },
    { expected: 'art', reply: 'the start', score: 0 },
    { expected: '강아지', reply: '제 강아지 이름은', score: 1 },
  ])('$expected in $reply: $score', ({ expected, reply, score }) => {
    expect(containmentScore(expected, reply)).toBe(score);
  });
});

describe('probeFigures', () => {
  const result = (scores: ProbeResult['scores'], category = 'single-hop'): ProbeResult => ({
    conversation: 'c',
    id: 'p',
    category,
    question: 'q',
    expected: 'a',
    replies: { before: '', after: '', blanked: '' },
    scores,
  });

  test('counts an answer as right from a score of 0.8', () => {
    const figures = probeFigures([
      result({ before: 1, after: 0.8, blanked: 0 }),
      result({ before: 0.79, after: 0, blanked: 0 }, 'temporal'),
    ]);

    expect(figures.all.before).toEqual({ n: 2, right: 0.5, meanScore: 0.895 });
    expect(figures.all.after.right).toBe(0.5);
    expect(figures.rightBefore.after).toMatchObject({ n: 1, right: 1 });
    expect(figures.categories.temporal?.before.n).toBe(1);
  });

  test('has shares of 0 for no probes', () => {
    expect(probeFigures([]).all.before).toEqual({ n: 0, right: 0, meanScore: 0 });
  });
});

describe('parseProbesArguments', () => {
  test('asks 50 probes at 16,000 tokens unless told otherwise', () => {
    expect(parseProbesArguments(['f'])).toEqual({ file: 'f', count: 50, thresholdTokens: 16_000 });
  });

  test.each([
    { argv: [], names: /FILE\.jsonl/ },
    { argv: ['f', '--count', '-1'], names: /--count/ },
    { argv: ['f', '--threshold-tokens', 'x'], names: /--threshold-tokens/ },
    { argv: ['f', '--limit', '3'], names: /--limit/ },
  ])('refuses $argv and names what is wrong', ({ argv, names }) => {
    expect(() => parseProbesArguments(argv)).toThrow(names);
  });
});
