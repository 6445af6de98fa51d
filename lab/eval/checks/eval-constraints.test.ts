import { describe, expect, test } from 'vitest';
import {
  isPresent,
  readValues,
  says,
  valuesOf,
  type ValueTexts,
} from './eval-constraints-score.ts';

describe('the values of a recording', () => {
  test('are the arguments that its task needs', () => {
    const recording = { id: 'r', turns: [], meta: { expectedArgs: ['mia_li', 250] } };

    expect(valuesOf(recording)).toEqual([
      { name: 'mia_li', forms: ['mia_li'] },
      { name: '250', forms: ['250'] },
    ]);
  });

  test('are the answers of slot probes with their alternatives', () => {
    const probes = [
      { id: 'a', question: '?', answer: 'Fremont', category: 'slot', alternatives: ['fremont ca'] },
      { id: 'b', question: '?', answer: 'why', category: 'reason' },
      { id: 'c', question: '?', answer: null, category: 'slot' },
    ];

    expect(valuesOf({ id: 'r', turns: [], probes })).toEqual([
      { name: 'a', forms: ['Fremont', 'fremont ca'] },
    ]);
  });
});

describe('a text', () => {
  test.each([
    ['it costs 250 dollars', '250', true],
    ['it costs 1250 dollars', '250', false],
    ['flight hat0390', 'hat039', false],
    ['flights hat0390 and hat039', 'hat039', true],
    ['价格是1000元以上的酒店', '1000元以上', true],
    ['我去梅兰芳大剧院吧', '梅兰芳大剧院', true],
    ['anything', '', false],
  ])('%j says %j: %s', (text, value, expected) => {
    expect(says(text, value)).toBe(expected);
  });
});

const nowhere: ValueTexts = {
  foldedUser: ['I want Fremont, not “Oakland”.'],
  snapshot: [],
  pins: [],
  tail: [],
  leftOut: [],
  archive: [],
  transcript: ['I want Fremont, not “Oakland”.'],
};
const fremont = [{ name: 'city', forms: ['Fremont', 'Fremont CA'] }];

describe('the reading of values', () => {
  test('takes a date for said in any notation', () => {
    const values = [{ name: 'date', forms: ['March 7th'] }];
    const texts = { ...nowhere, foldedUser: ['on March 7th'], snapshot: ['date 2019-03-07'] };

    expect(readValues(values, texts)).toMatchObject([{ inSnapshot: true, inTail: false }]);
  });

  test('does not mind blanks beside a dash', () => {
    const values = [{ name: 'time', forms: ['2小时 - 3小时'] }];
    const texts = {
      ...nowhere,
      foldedUser: ['可以玩2小时 - 3小时的'],
      snapshot: ['玩2小时-3小时'],
    };

    expect(readValues(values, texts)).toMatchObject([{ inSnapshot: true }]);
  });

  test('leaves out what the user did not say in the folded turns, and single characters', () => {
    const values = [...fremont, { name: 'x', forms: ['Berlin'] }, { name: 'y', forms: ['I'] }];

    expect(readValues(values, nowhere).map(({ name }) => name)).toEqual(['city']);
  });

  test('counts a value once', () => {
    expect(readValues([...fremont, ...fremont], nowhere)).toHaveLength(1);
  });

  test.each([
    ['snapshot', 'inSnapshot'],
    ['pins', 'inPins'],
    ['tail', 'inTail'],
  ] as const)('finds a value in the %s', (place, flag) => {
    const [value] = readValues(fremont, { ...nowhere, [place]: ['to  FREMONT.'] });

    expect(value?.[flag]).toBe(true);
    expect(value && isPresent(value)).toBe(true);
  });

  test('tells an absent value that is listed, archived and found by search', () => {
    const [value] = readValues(fremont, {
      ...nowhere,
      leftOut: ['fremont'],
      archive: ['The user wants Fremont.'],
    });

    expect(value).toMatchObject({ isListed: true, isArchived: true, isFound: true });
    expect(value && isPresent(value)).toBe(false);
  });
});
