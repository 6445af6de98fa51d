import { mayStoreTitle, titleIn } from '#shared/conversation/title.ts';
import { expect, test } from 'vitest';

const generated = { title: 'made', autoTitle: { throughSeq: 1 } };

const conversation = { state: 'live', epoch: 'e', changedIn: 0 } as const;

test.each([
  ['over one of fewer turns', { ...conversation, ...generated }, true],
  ['over one of as many', { ...conversation, title: 'made', autoTitle: { throughSeq: 4 } }, false],
  ['in a conversation that came back with the id', { ...conversation, epoch: 'f' }, false],
  ['in the bin', { ...conversation, state: 'deleted' as const }, false],
])('a title that was made may be stored %s', (...[, now, isAllowed]) => {
  const made = { madeFrom: { epoch: 'e', changedIn: 0 }, throughSeq: 4 };

  expect(mayStoreTitle(now, made)).toBe(isAllowed);
});

test.each([
  ['  "Trip to Kyoto."  ', 'Trip to Kyoto'],
  ['# Trip   to\tKyoto', 'Trip to Kyoto'],
  ['「京都への旅行」', '京都への旅行'],
  ['C++ & C# in 2026', 'C++ & C# in 2026'],
  ['Trip \u202etxt.exe', 'Trip txt.exe'],
  ['\u200b"Tr\u00adip\u{E0041}"', 'Trip'],
  ['Family 👩‍👩‍👧 trip', 'Family 👩‍👩‍👧 trip'],
])('the title in the answer %j is %j', (answer, title) => {
  expect(titleIn(answer)).toBe(title);
});

test.each([
  ['two lines', 'Trip to Kyoto\nHere is more.'],
  ['a tag', '<b>Trip</b>'],
  ['a link', '[Trip](//example.com)'],
  ['JSON', '{"title": "Trip"}'],
  ['a hidden address', 'Trip ht\u200btps://example.com'],
  ['half of a surrogate pair', 'Trip \ud83d'],
  ['an answer in place of a title', 'word '.repeat(40)],
])('an answer with %s has no title', (_, answer) => {
  expect(titleIn(answer)).toBeUndefined();
});

test('a title has at most 60 characters and cuts no grapheme', () => {
  const title = titleIn(`${'x'.repeat(55)}${'👩‍👩‍👧'.repeat(10)}`) ?? '';

  expect(title.length).toBeLessThanOrEqual(60);
  expect(title).toBe(`${'x'.repeat(55)}…`);
});
