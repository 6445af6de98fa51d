import { describe, expect, test } from 'vitest';
import { foldedCount, slicesOf, turnsOf } from './recorded-turns.ts';
import type { Recording } from '../replay/recording.ts';

type RecordedContent = Recording['turns'][number];

const said = (role: 'user' | 'model', text: string): RecordedContent => ({
  role,
  parts: [{ text }],
});

describe('turns of a recording', () => {
  test('begin with every message of the user, also with two in a row', () => {
    const turns = [said('user', 'a'), said('user', 'b'), said('model', 'c'), said('user', 'd')];

    const found = turnsOf({ id: 'r', turns });

    expect(found.map(({ firstIndex }) => firstIndex)).toEqual([0, 1, 3]);
    expect(found[1]?.contents).toEqual([said('model', 'c')]);
  });

  test('begin at index 0 where the model speaks first', () => {
    const found = turnsOf({ id: 'r', turns: [said('model', 'Hello'), said('user', 'Hi')] });

    expect(found.map(({ firstIndex }) => firstIndex)).toEqual([0, 1]);
    expect(found[0]?.contents).toEqual([said('model', 'Hello')]);
  });

  test('were said on the day of their session', () => {
    const found = turnsOf({
      id: 'r',
      turns: [said('user', 'a'), said('user', 'b'), said('user', 'c')],
      meta: { sessions: [{ date: '1:56 pm on 8 May, 2023', firstTurn: 1 }] },
    });

    expect(found.map(({ at }) => at.toISOString().slice(0, 10))).toEqual([
      '2026-01-01',
      '2023-05-08',
      '2023-05-08',
    ]);
  });
});

describe('the number of folded turns', () => {
  const turns = turnsOf({
    id: 'r',
    turns: Array.from({ length: 10 }, () => said('user', 'ten chars.')),
  });

  test.each([
    [0.3, 7],
    [0.5, 5],
    [0.01, 9],
  ])('keeps %d of the text in whole turns', (keepFraction, count) => {
    expect(foldedCount(turns, keepFraction)).toBe(count);
  });
});

describe('the slices of a growing conversation', () => {
  const turns = turnsOf({
    id: 'r',
    turns: Array.from({ length: 20 }, () => said('user', 'ten chars.')),
  });

  test('fold a little more each time, as soon as enough stands behind it', () => {
    expect(slicesOf(turns, { count: 2, keepFraction: 0.3 })).toEqual([
      { stored: 9, folded: 7 },
      { stored: 20, folded: 14 },
    ]);
  });

  test('are fewer where there are fewer turns', () => {
    expect(slicesOf(turns.slice(0, 4), { count: 9, keepFraction: 0.3 })).toEqual([
      { stored: 2, folded: 1 },
      { stored: 3, folded: 2 },
      { stored: 4, folded: 3 },
    ]);
  });

  test('fold at least one turn each, also where one turn is most of the text', () => {
    const large = turnsOf({
      id: 'r',
      turns: [said('user', 'b'.repeat(999)), ...Array.from({ length: 9 }, () => said('user', 'a'))],
    });

    const slices = slicesOf(large, { count: 3, keepFraction: 0.003 });

    expect(new Set(slices.map(({ folded }) => folded)).size).toBe(slices.length);
    expect(slices.at(-1)).toMatchObject({ stored: 10 });
  });
});
