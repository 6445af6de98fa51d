import { expect, test } from 'vitest';
import { citedTurns, isAboutTurn, SOURCES_MAX } from '#shared/conversation/documents/snapshot.ts';

const many = Array.from({ length: SOURCES_MAX + 50 }, (_, index) => index + 1);

test('cited turns are ascending, once, and of many the first and the newest', () => {
  expect(citedTurns([3, 1, 2, 3])).toEqual([1, 2, 3]);
  expect(citedTurns(many)).toEqual([1, ...many.slice(1 - SOURCES_MAX)]);
});

test('an item tells of every turn that it was made of, also of those that it no longer names', () => {
  const item = { sources: citedTurns(many) };

  expect(many.filter((seq) => !isAboutTurn(item, seq))).toEqual([]);
  expect(isAboutTurn(item, SOURCES_MAX + 51)).toBe(false);
});

test.each([
  ['between two that it cites', { sources: [1, 5] }, 3, false],
  ['of the stretch of a topic', { sources: [1], through: 5 }, 3, true],
  ['behind the stretch of a topic', { sources: [1], through: 5 }, 6, false],
  ['where nobody knows its turns', { sources: [] }, 3, false],
])('an item and a turn %s', (_where, item, seq, isAbout) => {
  expect(isAboutTurn(item, seq)).toBe(isAbout);
});
