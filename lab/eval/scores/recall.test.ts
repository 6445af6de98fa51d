import { describe, expect, test } from 'vitest';
import { libraryRanker, ownRanker, recallCaseOf, recallOf, recallRows } from './recall.ts';
import { recallFixture } from './recall-fixture.ts';

const fixture = recallCaseOf(recallFixture, 20);

describe('what the model looks up', () => {
  test('is found among the first hits in a conversation that no weight was chosen on', () => {
    const { probes, one } = recallOf([fixture], ownRanker);

    expect(probes).toBe(20);
    expect(one[5]).toBeGreaterThanOrEqual(18);
    expect(one[10]).toBeGreaterThanOrEqual(18);
  });

  test('is found at least as often as by the library with its defaults', () => {
    const [own, theirs] = [recallOf([fixture], ownRanker), recallOf([fixture], libraryRanker)];

    expect(own.one[5]).toBeGreaterThanOrEqual(theirs.one[5]);
    expect(own.one[10]).toBeGreaterThanOrEqual(theirs.one[10]);
  });
});

describe('the evaluation of what is looked up', () => {
  test('asks only for what was said before the tail', () => {
    const [whole, cut] = [recallCaseOf(recallFixture, 20), recallCaseOf(recallFixture, 300)];

    expect(whole.probes).toHaveLength(20);
    expect(cut.probes.length).toBeGreaterThan(0);
    expect(cut.probes.length).toBeLessThan(20);
    expect(recallCaseOf(recallFixture, 1_000_000).probes).toEqual([]);
  });

  // Turn 1 holds contents 0 to 2, turn 2 holds 3 and 4, turn 3 is the tail.
  const roles = ['user', 'model', 'model', 'user', 'model', 'user'] as const;
  const recorded = {
    id: 'r',
    turns: roles.map((role) => ({ role, parts: [{ text: 'Something is said.' }] })),
  };

  test.each([
    {
      title: 'evidence in folded turns',
      change: { evidenceTurnIndexes: [2, 4] },
      expected: [1, 2],
    },
    {
      title: 'a number as its answer',
      change: { evidenceTurnIndexes: [0], answer: 7 },
      expected: [1],
    },
    { title: 'evidence partly kept', change: { evidenceTurnIndexes: [2, 5] }, expected: undefined },
    {
      title: 'evidence that is not replayed',
      change: { evidenceTurnIndexes: [9] },
      expected: undefined,
    },
    { title: 'no evidence', change: { evidenceTurnIndexes: [] }, expected: undefined },
    { title: 'no answer', change: { evidenceTurnIndexes: [0], answer: null }, expected: undefined },
    {
      title: 'an adversarial question',
      change: { evidenceTurnIndexes: [0], category: 'adversarial' },
      expected: undefined,
    },
  ])('looks for $expected of a probe with $title', ({ change, expected }) => {
    const probe = { id: 'p', question: 'q', answer: 'a', category: 'single-hop', ...change };
    const { probes } = recallCaseOf({ ...recorded, probes: [probe] }, 1);

    expect(probes[0]?.evidence).toEqual(expected);
  });

  test('counts probes by their first five and ten hits, by one and by all of their evidence', () => {
    const input = (ranked: number[]) =>
      recallOf(
        [{ ...fixture, probes: [{ id: 'p', question: 'q', evidence: [1, 2] }] }],
        () => () => ranked,
      );

    expect(input([1, 2])).toEqual({ probes: 1, one: { 5: 1, 10: 1 }, all: { 5: 1, 10: 1 } });
    expect(input([1, 3, 4, 5, 6, 2])).toMatchObject({ one: { 5: 1, 10: 1 }, all: { 5: 0, 10: 1 } });
    expect(input([3, 4, 5, 6, 7, 2])).toMatchObject({ one: { 5: 0, 10: 1 }, all: { 5: 0, 10: 0 } });
  });

  test('reports every second conversation apart, with the library beside', () => {
    const none = () => () => [];

    const rows = recallRows('file', [fixture, fixture, fixture], { own: ownRanker, library: none });

    expect(rows.map(({ name, own }) => [name, own.probes])).toEqual([
      ['file, chosen on', 40],
      ['file, held out', 20],
      ['file, all', 60],
    ]);
  });
});
