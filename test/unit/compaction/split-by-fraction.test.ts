import { findSplitPoint, foldRange } from '#shared/compaction/split-preserve-fraction.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { describe, expect, test } from 'vitest';

const user = (text = 'x'): Content => ({ role: 'user', parts: [{ text }] });
const model = (text = 'x'): Content => ({ role: 'model', parts: [{ text }] });
const call: Content = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] };
const response: Content = {
  role: 'user',
  parts: [{ functionResponse: { name: 'f', response: {} } }],
};
const pairs = (count: number): Content[] =>
  Array.from({ length: count }, () => [user(), model()]).flat();

describe('findSplitPoint', () => {
  test.each<[string, Content[], number, number]>([
    ['nothing', [], 0.7, 0],
    ['ten exchanges: the first user content after 70 %', pairs(10), 0.7, 14],
    ['exactly at the fraction', pairs(2), 0.5, 2],
    [
      'no user content after 70 %, ends with text: everything',
      [user(), model('y'.repeat(999))],
      0.7,
      2,
    ],
    [
      'ends with a call: before the last user content',
      [...pairs(2), user('z'.repeat(999)), call],
      0.7,
      4,
    ],
    ['ends with the user: before it', [model('y'.repeat(9)), user('z'.repeat(999))], 0.7, 1],
    [
      'one prompt and a tool loop: nothing',
      [user(), ...Array.from({ length: 20 }, () => [call, response]).flat()],
      0.7,
      0,
    ],
    [
      'tool loop in the last turn: before that turn',
      [...pairs(1), user(), call, response, call, response],
      0.7,
      2,
    ],
    ['a single user content', [user()], 0.7, 0],
  ])('findSplitPoint: %s', (...[, contents, fraction, index]) => {
    expect(findSplitPoint(contents, fraction)).toBe(index);
  });

  test.each([0, 1, -0.1, 1.1, Number.NaN])('findSplitPoint refuses the fraction %d', (fraction) => {
    expect(() => findSplitPoint([user()], fraction)).toThrow(RangeError);
  });
});

describe('foldRange', () => {
  const turn = (seq: number, count: number) => ({ seq, contents: Array.from({ length: count }) });
  const turns = [turn(4, 2), turn(5, 6), turn(6, 2)];

  test.each([
    ['before everything', 0, null],
    ['inside the first turn', 1, null],
    ['after the first turn', 2, 4],
    ['inside the second turn', 7, 4],
    ['after the second turn', 8, 5],
    ['inside the newest turn', 9, 5],
    ['after everything: the newest turn stays', 10, 5],
  ])('foldRange with a split %s', (_, splitIndex, seq) => {
    const expected = seq === null ? null : { upTo: { seq, contentIndex: 0 } };

    expect(foldRange({ turns, splitIndex })).toEqual(expected);
  });

  test('foldRange never folds a single turn', () => {
    expect(foldRange({ turns: [turn(1, 8)], splitIndex: 8 })).toBeNull();
  });

  test('foldRange folds an erased turn with the turn before it', () => {
    const erased = [turn(1, 2), turn(2, 0), turn(3, 2)];

    expect(foldRange({ turns: erased, splitIndex: 2 })).toEqual({
      upTo: { seq: 2, contentIndex: 0 },
    });
  });
});
