import { describe, expect, test } from 'vitest';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { checkedValuesIn } from '#shared/compaction/facts/index/unsupported.ts';
import { citedTurns } from '#shared/compaction/ledger/operations/cited-turns.ts';
import { findValue, valueSearch } from '#shared/compaction/ledger/verify/value-search.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { saidTurn, type Said } from '#test/support/compaction/said-turn.ts';

interface Asked {
  sources?: readonly number[];
  userOnly?: boolean;
  known?: readonly string[];
  earlier?: readonly string[];
}

/** Where the only value of a statement is said. */
function whereIs(
  statement: string,
  turns: readonly Turn[],
  { sources = [3], userOnly = false, known = [], earlier = [] }: Asked = {},
) {
  const [value] = checkedValuesIn(statement);
  if (value === undefined) throw new Error(`no value in ${statement}`);
  return findValue(
    value,
    { sources, userOnly, earlier: () => indexFacts(earlier) },
    valueSearch(citedTurns(turns), known, undefined),
  );
}

/** Turns 1 to 9, most of them about nothing. */
const turnsWith = (said: Record<number, Said>): Turn[] =>
  Array.from({ length: 9 }, (_, index) =>
    saidTurn(index + 1, said[index + 1] ?? { user: 'And then?', model: 'Let us see.' }),
  );

const deposit = 'The deposit is 99 EUR';

describe('a value is looked for', () => {
  test('a value is searched in the cited turn first', () => {
    const turns = turnsWith({ 3: { user: 'It is 99 EUR.' }, 4: { user: 'So 99 EUR.' } });

    expect(whereIs(deposit, turns)).toEqual({ kind: 'cited' });
  });

  test.each([
    ['what the user says', { user: 'It is 99 EUR.' }],
    ['what the model says', { user: 'And?', model: 'It is 99 EUR.' }],
    ['what a tool returns', { user: 'And?', tool: 'deposit: 99 EUR' }],
  ])('a value is searched in other turns next, which the item should cite: %s', (_what, said) => {
    expect(whereIs(deposit, turnsWith({ 8: said }))).toEqual({ kind: 'turn', seq: 8 });
  });

  test.each([
    ['the nearest', { 1: { user: '99 EUR' }, 6: { user: '99 EUR' } }, 1],
    ['the newer of two equally near', { 1: { user: '99 EUR' }, 5: { user: '99 EUR' } }, 5],
  ])('a value found in several turns cites %s', (_what, said, seq) => {
    expect(whereIs(deposit, turnsWith(said))).toEqual({ kind: 'turn', seq });
  });

  test('a value is searched in pins, tail and known items last', () => {
    expect(whereIs(deposit, turnsWith({}), { known: ['Deposit 99 EUR'] })).toEqual({
      kind: 'known',
    });
  });

  test('a value is searched in the item’s earlier text', () => {
    expect(whereIs(deposit, turnsWith({}), { earlier: ['Deposit 99 EUR'] })).toEqual({
      kind: 'known',
    });
  });

  test('a value that is in no source is not found', () => {
    expect(whereIs(deposit, turnsWith({ 2: { user: 'It is 98 EUR.' } }))).toEqual({
      kind: 'nowhere',
    });
  });
});

describe('a value of a rule', () => {
  test.each([
    ['a tool', { user: 'And?', tool: 'deposit: 99 EUR' }],
    ['the model', { user: 'And?', model: 'It is 99 EUR.' }],
  ])('a rule’s value is not found where %s says it alone', (_who, said) => {
    expect(whereIs(deposit, turnsWith({ 3: said }), { userOnly: true })).toEqual({
      kind: 'nowhere',
    });
  });

  test('a rule’s value is not found in pins or tail alone', () => {
    expect(whereIs(deposit, turnsWith({}), { userOnly: true, known: ['Deposit 99 EUR'] })).toEqual({
      kind: 'nowhere',
    });
  });
});

describe('a day', () => {
  const at = (day: number) => new Date(Date.UTC(2026, 10, day, 10));

  test.each([
    ['tomorrow', 'I fly tomorrow.', 'The flight is on 2026-11-22'],
    ['yesterday', 'I saw the doctor yesterday.', 'Doctor on 2026-11-20'],
    ['3 days ago', 'I saw the doctor 3 days ago.', 'Doctor on 2026-11-18'],
    ['a weekday', 'Let us meet on Friday.', 'They meet on 2026-11-27'],
    ['last week', 'We moved last week.', 'They moved on 2026-11-12'],
  ])('a day counts from the cited turn: %s', (_what, user, statement) => {
    const turns = turnsWith({ 3: { user, at: at(21) } });

    expect(whereIs(statement, turns)).toEqual({ kind: 'cited' });
  });

  test.each([
    ['before', 2],
    ['after', 4],
  ])('a day is found where the turn %s the cited one states it', (_side, seq) => {
    const turns = turnsWith({ [seq]: { user: 'I fly tomorrow.', at: at(21) } });

    expect(whereIs('The flight is on 2026-11-22', turns)).toEqual({ kind: 'turn', seq });
  });

  test('a day counts from the neighbouring turn where only that states the day', () => {
    const turns = turnsWith({
      3: { user: 'I fly tomorrow.', at: at(20) },
      4: { user: 'Good morning!', at: at(23) },
    });

    expect(whereIs('The flight is on 2026-11-24', turns)).toEqual({ kind: 'known' });
  });

  test('a day is not found in a distant turn', () => {
    const turns = turnsWith({ 3: { user: 'I fly tomorrow.', at: at(21) } });

    expect(whereIs('The flight is on 2026-12-24', turns)).toEqual({ kind: 'nowhere' });
  });
});

test('a range may combine values of neighbours, not of distant turns', () => {
  const near = turnsWith({ 2: { user: 'From 769px on.' }, 4: { user: 'Up to 1024px.' } });
  const far = turnsWith({ 1: { user: 'From 769px on.' }, 9: { user: 'Up to 1024px.' } });

  expect(whereIs('Tablets: 769px-1024px', near)).toEqual({ kind: 'known' });
  expect(whereIs('Tablets: 769px-1024px', far)).toEqual({ kind: 'nowhere' });
});
