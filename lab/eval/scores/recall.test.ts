import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseRecordings } from '../replay/recording.ts';
import { libraryRanker, ownRanker, recallCaseOf, recallOf } from './recall.ts';

/** A made-up conversation, asked about in other words than it was told, and never looked at when a weight is chosen. */
const [talk = { id: '', turns: [] }] = parseRecordings(
  await readFile('lab/eval/own/recall.jsonl', 'utf8'),
);
const whole = recallCaseOf(talk, 20);

test('what the model looks up is found among the first hits, at least as often as by a library', () => {
  const [own, theirs] = [recallOf([whole], ownRanker), recallOf([whole], libraryRanker)];

  expect(own.probes).toBe(20);
  expect(own.one[5]).toBeGreaterThanOrEqual(Math.max(18, theirs.one[5]));
  expect(own.one[10]).toBeGreaterThanOrEqual(Math.max(18, theirs.one[10]));
});

test('an evaluation of recall asks only for what was said before the tail', () => {
  const cut = recallCaseOf(talk, 300).probes.length;

  expect(cut).toBeGreaterThan(0);
  expect(cut).toBeLessThan(20);
  expect(recallCaseOf(talk, 1_000_000).probes).toEqual([]);
});

test.each([
  ['evidence in folded turns', { evidenceTurnIndexes: [2, 4] }, [1, 2]],
  ['a number as its answer', { evidenceTurnIndexes: [0], answer: 7 }, [1]],
  ['evidence partly kept', { evidenceTurnIndexes: [2, 5] }, undefined],
  ['evidence that is not replayed', { evidenceTurnIndexes: [9] }, undefined],
  ['no evidence', { evidenceTurnIndexes: [] }, undefined],
  ['no answer', { evidenceTurnIndexes: [0], answer: null }, undefined],
  ['an adversarial question', { evidenceTurnIndexes: [0], category: 'adversarial' }, undefined],
])('of a probe with %s the evidence is looked for in these turns', (_, change, expected) => {
  // Turn 1 holds contents 0 to 2, turn 2 holds 3 and 4, turn 3 is the tail.
  const roles = ['user', 'model', 'model', 'user', 'model', 'user'] as const;
  const turns = roles.map((role) => ({ role, parts: [{ text: 'Something is said.' }] }));
  const probe = { id: 'p', question: 'q', answer: 'a', category: 'single-hop', ...change };

  expect(recallCaseOf({ id: 'r', turns, probes: [probe] }, 1).probes[0]?.evidence).toEqual(
    expected,
  );
});

test.each([
  [[1, 2], { one: { 5: 1, 10: 1 }, all: { 5: 1, 10: 1 } }],
  [[1, 3, 4, 5, 6, 2], { one: { 5: 1, 10: 1 }, all: { 5: 0, 10: 1 } }],
  [[3, 4, 5, 6, 7, 2], { one: { 5: 0, 10: 1 }, all: { 5: 0, 10: 0 } }],
])('hits %j count by one and by all of the evidence in turns 1 and 2: %j', (ranked, figure) => {
  const probes = [{ id: 'p', question: 'q', evidence: [1, 2] }];

  expect(recallOf([{ ...whole, probes }], () => () => ranked)).toMatchObject(figure);
});
