import { expect, test } from 'vitest';
import { counted } from '#web/figures.ts';

test.each([
  [0, '0 turns'],
  [1, '1 turn'],
  [2_000, '2,000 turns'],
])('the page writes a number of turns with the right form of the noun: %i', (value, text) => {
  expect(counted(value, 'turn')).toBe(text);
});
