import { describe, expect, test } from 'vitest';
import {
  constraintsBeyondShare,
  mergeConstraints,
} from '#shared/compaction/ledger/budget/bound-constraints.ts';
import { ledgerConstants } from '#shared/compaction/ledger/ledger-constants.ts';
import { snapshotRoom } from '#shared/compaction/ledger/budget/snapshot-room.ts';
import { modelItem, snapshotWith } from '#test/support/compaction/said-turn.ts';

const counting = { rule: 'character-class' } as const;

/** Rules of turns: each number is that of the turn that says the rule. */
const rulesOf = (...rules: (readonly [text: string, seq: number])[]) =>
  snapshotWith({
    active_constraints: rules.map(([text, seq], index) =>
      modelItem(index + 1, text, { sources: [seq] }),
    ),
  });
const textsAfterMerging = (snapshot: ReturnType<typeof rulesOf>): string[] =>
  (mergeConstraints(snapshot).sections['active_constraints'] ?? []).map(({ text }) => text);
const ofOneTurn = (texts: readonly string[]): string[] =>
  textsAfterMerging(rulesOf(...texts.map((text) => [text, 1] as const)));
const ofTwoTurns = (texts: readonly string[]): string[] =>
  textsAfterMerging(rulesOf(...texts.map((text, index) => [text, index + 1] as const)));

describe('rules of which one says the other', () => {
  test.each([
    [
      'the longer stays',
      ['Never book a flight', 'Never book a flight before nine'],
      ['Never book a flight before nine'],
    ],
    [
      'the order does not matter',
      ['Never book a flight before nine', 'Never book a flight'],
      ['Never book a flight before nine'],
    ],
    [
      'the words of code and model count alike',
      ['User: "No meat, please."', 'No meat, please'],
      ['No meat, please'],
    ],
    ['others stay as they are', ['No meat', 'No fish'], ['No meat', 'No fish']],
  ])('rules that say the same are merged: %s', (_what, rules, merged) => {
    expect(ofOneTurn(rules)).toEqual(merged);
  });

  test('merged rules cite the turns of both', () => {
    const { sections } = mergeConstraints(rulesOf(['No meat', 1], ['User: "No meat"', 2]));

    expect(sections['active_constraints']).toMatchObject([{ sources: [1, 2] }]);
  });

  test.each([
    ['the later one is the contrary', ['Don’t answer in English.', 'Answer in English.']],
    ['the later one is the contrary in other words', ['Never call me at work', 'Call me at work']],
    ['the later one is the contrary, in straight marks', ["Don't call me", 'Call me']],
    ['a word goes on', ['No ham', 'No hamburgers']],
  ])('rules stay separate where %s', (_what, rules) => {
    expect(ofOneTurn(rules)).toEqual(rules);
  });

  test('rules stay separate where the user says the narrower one in another turn', () => {
    const rules = ['No meat', 'No meat on Fridays'];

    expect(ofTwoTurns(rules)).toEqual(rules);
  });
});

describe('rules beyond their share of the budget', () => {
  const goneOf = (rules: Parameters<typeof modelItem>[2][], budgetTokens: number) =>
    constraintsBeyondShare(
      snapshotWith({
        active_constraints: rules.map((fields, index) =>
          modelItem(index + 1, 'Never book a flight before nine in the morning', fields),
        ),
      }),
      { budgetTokens, counting },
    ).map(({ id }) => id);

  test('no rule exceeds the budget where all have room', () => {
    expect(goneOf([{}, {}, {}], 1_000)).toEqual([]);
  });

  test.each([
    ['of less importance', [{ importance: 3 }, { importance: 1 }, {}], 'i2'],
    ['that code put in', [{}, { by: 'code' as const }, {}], 'i2'],
    ['that are older', [{ sources: [9] }, { sources: [2] }, { sources: [5] }], 'i2'],
  ])('rules over their budget share: %s first', (_what, rules, id) => {
    expect(goneOf(rules, 80)[0]).toBe(id);
  });
});

test('a rule that had room before keeps it in a small fold', () => {
  const rules = Array.from({ length: 16 }, (_, index) =>
    modelItem(
      index + 1,
      `Never book hotel ${index + 10} near the harbour before nine in the morning`,
    ),
  );
  const snapshot = snapshotWith({ active_constraints: rules });
  const budgetTokens = 2_000;
  const constraintTokens = ledgerConstants.constraintBudgetFraction.value * budgetTokens;
  const { ceilingTokens } = snapshotRoom({
    budgetTokens,
    softThresholdTokens: 20_000,
    foldedTokens: 400,
    foldedTurns: 3,
    coveredTurns: 30,
    previousTokens: 470,
    calibration: 1,
    wideShare: 0,
  });

  const beyond = (room: { budgetTokens: number; constraintTokens?: number }) =>
    constraintsBeyondShare(snapshot, { ...room, counting });

  expect(beyond({ budgetTokens })).toEqual([]);
  expect(beyond({ budgetTokens: ceilingTokens })).not.toEqual([]);
  expect(beyond({ budgetTokens: ceilingTokens, constraintTokens })).toEqual([]);
});
