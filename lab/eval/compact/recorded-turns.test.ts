import { expect, test } from 'vitest';
import { slicesOf, turnsOf } from './recorded-turns.ts';

const said = (role: 'user' | 'model', text: string) => ({ role, parts: [{ text }] });
const user = said('user', 'ten chars.');
const turnsOfUser = (count: number) =>
  turnsOf({ id: 'r', turns: Array.from({ length: count }, () => user) });

test('a recording in which the model speaks first begins with a turn of its own', () => {
  const found = turnsOf({ id: 'r', turns: [said('model', 'Hello'), user] });

  expect(found.map(({ firstIndex }) => firstIndex)).toEqual([0, 1]);
});

test('turns of a recording were said on the day of their session', () => {
  const sessions = [{ date: '1:56 pm on 8 May, 2023', firstTurn: 1 }];

  const found = turnsOf({ id: 'r', turns: [user, user, user], meta: { sessions } });

  expect(found.map(({ at }) => at.toISOString().slice(0, 10))).toEqual([
    '2026-01-01',
    '2023-05-08',
    '2023-05-08',
  ]);
});

test.each([
  [20, 2, [9, 20], [7, 14]],
  [4, 9, [2, 3, 4], [1, 2, 3]],
])('%d turns are compacted %d times at most, as they grow', (turns, count, stored, folded) => {
  const slices = slicesOf(turnsOfUser(turns), { count, keepFraction: 0.3 });

  expect(slices.map((slice) => slice.stored)).toEqual(stored);
  expect(slices.map((slice) => slice.folded)).toEqual(folded);
});

test('every slice folds at least one turn, also where one turn is most of the text', () => {
  const turns = [said('user', 'b'.repeat(999)), ...Array.from({ length: 9 }, () => user)];

  const slices = slicesOf(turnsOf({ id: 'r', turns }), { count: 3, keepFraction: 0.003 });

  expect(new Set(slices.map(({ folded }) => folded)).size).toBe(slices.length);
  expect(slices.at(-1)).toMatchObject({ stored: 10 });
});
