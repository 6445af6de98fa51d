import { describe, expect, test } from 'vitest';
import {
  splitClauses,
  withoutValues,
  UNCONFIRMED_MARK as MARK,
} from '#shared/compaction/ledger/verify/clauses.ts';

const clausesIn = (text: string) =>
  splitClauses(text).map(({ start, end }) => text.slice(start, end).trim());

describe('the clauses of a note', () => {
  test.each([
    ['Trip to Lyon; budget 540 EUR; two dogs', ['Trip to Lyon;', 'budget 540 EUR;', 'two dogs']],
    ['They plan a trip. It costs much.', ['They plan a trip.', 'It costs much.']],
    ['Room 4.5 m wide, at example.org', ['Room 4.5 m wide, at example.org']],
    ['Ana – a nurse', ['Ana –', 'a nurse']],
    ['酒店评分4.7；价格300元。很近', ['酒店评分4.7；', '价格300元。', '很近']],
    ['', []],
  ])('the clauses of a note: %j', (text, clauses) => {
    expect(clausesIn(text)).toEqual(clauses);
  });

  test.each(['a; b', 'One. Two! “Three?” Four; ', ';;', ' – '])(
    'the clauses of a note are all of %j',
    (text) => {
      expect(
        splitClauses(text)
          .map(({ start, end }) => text.slice(start, end))
          .join(''),
      ).toBe(text);
    },
  );
});

/** The statement without these parts of it. */
const without = (text: string, ...values: string[]) =>
  withoutValues(
    text,
    values.map((value) => ({
      start: text.indexOf(value),
      end: text.indexOf(value) + value.length,
    })),
  );

describe('a statement without a value that nobody said', () => {
  test.each([
    [
      'says what its clause says all the same',
      'Ana pays 99 EUR for the room; two dogs come',
      ['99 EUR'],
      `Ana pays ${MARK} for the room; two dogs come`,
    ],
    [
      'loses a clause that is nothing without it',
      'Trip to Lyon in May; deposit 99 EUR; two dogs come',
      ['99 EUR'],
      'Trip to Lyon in May; two dogs come',
    ],
    [
      'loses its last clause and the sign before it',
      'Trip to Lyon in May; deposit 99 EUR',
      ['99 EUR'],
      'Trip to Lyon in May',
    ],
    [
      'has a mark for each of several',
      'Ana pays 99 EUR for the room and 12 EUR for the dog',
      ['99 EUR', '12 EUR'],
      `Ana pays ${MARK} for the room and ${MARK} for the dog`,
    ],
    [
      'keeps a clause of ideographs that says something',
      '酒店的价格是300元一晚',
      ['300元'],
      `酒店的价格是${MARK}一晚`,
    ],
  ])('a statement without its invented value: %s', (...[, text, values, left]) => {
    expect(without(text, ...values)).toBe(left);
  });

  test.each([
    ['its only clause', 'Deposit: 99 EUR', ['99 EUR']],
    ['all that it says', 'Order ORD-99817; deposit 99 EUR', ['ORD-99817', '99 EUR']],
  ])('a statement is empty where its invented value was %s', (_what, text, values) => {
    expect(without(text, ...values)).toBeUndefined();
  });

  test('a statement is cut at its invented value, whatever the notation before it', () => {
    const text = 'ﬁnal price of the room is 99 EUR a night';

    expect(without(text, '99 EUR')).toBe(`ﬁnal price of the room is ${MARK} a night`);
  });
});
