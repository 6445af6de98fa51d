import { describe, expect, test } from 'vitest';
import { isSaidAgain } from '#shared/recall/said-again.ts';
import { segmentOfPassages, type PassageRole } from '#shared/recall/segment.ts';

const now = new Date('2026-06-20T10:00:00Z');

/** Folded turns, each what somebody said on the 2nd of May. */
const folded = (...said: readonly [PassageRole, string][]) =>
  segmentOfPassages(
    said.map(([role, text], i) => ({
      seq: i + 1,
      role,
      text,
      at: new Date('2026-05-02T10:00:00Z'),
    })),
  );

const segment = folded(
  ['user', 'Hello, I am planning a trip with my sister.'],
  ['user', 'My budget for the hotel is 1,400 euros.'],
  ['model', 'The rail pass costs 312 euros.'],
  ['user', 'My booking number is QX-48213.'],
  ['user', 'We fly on 12 September 2026 from Oslo.'],
  ['user', 'Always answer me in short sentences, please.'],
  ['user', 'Tomorrow I see the dentist.'],
  ['user', 'We run v24.1 for our B2B shop and store its files as UTF-8.'],
);

const asked = (message: string, more: Partial<Parameters<typeof isSaidAgain>[0]> = {}) =>
  isSaidAgain({
    message,
    now,
    segments: [segment],
    throughSeq: 8,
    leftOut: new Set(),
    known: ['The user plans a trip with a sister.'],
    ...more,
  });

describe('a message says again', () => {
  test.each([
    ['an amount, however it is written', 'As I said, my hotel budget is EUR 1400.'],
    ['a reference', 'It is QX-48213.'],
    ['a day, however it is written', 'We fly on Sept 12, 2026.'],
    ['a wish that always holds', 'Please always answer me in short sentences!'],
  ])('%s', (_, message) => {
    expect(asked(message)).toBe(true);
  });
});

describe('a message says nothing again that', () => {
  test.each([
    ['has another value', 'My hotel budget is 1,500 euros.'],
    ['has the same value of something else', 'The camera costs 1,400 euros.'],
    ['asks', 'Is my booking number QX-48213?'],
    ['says what only the model has said', 'The rail pass costs 312 euros.'],
    ['says a day that is told from today', 'Tomorrow I see the dentist.'],
    ['names a standard, a version or a trade', 'The UTF-8 files of a B2B partner need v24.1.'],
    ['states no value', 'I am planning a trip with my sister.'],
  ])('%s', (_, message) => {
    expect(asked(message)).toBe(false);
  });

  test.each([
    ['stands in the context', { known: ['Hotel budget: €1,400.'] }],
    ['was brought back before, or is erased', { leftOut: new Set([2]) }],
    ['is not folded', { throughSeq: 1 }],
  ])('%s', (_, more) => {
    expect(asked('My hotel budget is 1,400 euros.', more)).toBe(false);
  });
});
