import { describe, expect, test } from 'vitest';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { checkedValuesIn, isValueHeld } from '#shared/compaction/facts/index/unsupported.ts';
import { isDerived } from '#shared/compaction/ledger/verify/derived-values.ts';

/** The values of a statement that neither stand in what was said nor follow from it. */
function underivedIn(text: string, said: string): string[] {
  const index = indexFacts([said]);
  return checkedValuesIn(text)
    .filter((value) => !isValueHeld(value, index) && !isDerived(value, index))
    .map((value) => value.text);
}

test.each([
  ['milliseconds for seconds', 'timeout = 60000 ms', 'The time-out is 60 s.'],
  ['seconds for minutes', 'waits 300 seconds', 'It waits 5 minutes.'],
  ['hours for days', 'kept 48 hours', 'We keep it for 2 days.'],
  ['grams for kilograms', 'needs 1500 g of flour', 'I need 1.5 kg of flour.'],
  ['metres for kilometres', 'a walk of 2500 m', 'It is 2.5 km on foot.'],
  ['kilobytes for megabytes', 'at most 2048 KB', 'Files up to 2 MB.'],
  ['a range', 'tablets: 769px-1024px', 'From 769px on it is a tablet, up to 1024px.'],
  [
    'a joined link',
    'see https://example.org/docs/api/users',
    'On https://example.org under docs/api there is users.',
  ],
  [
    'a link that is shortened',
    'https://example.org/…/users',
    'Look at https://example.org/docs/v2/users please.',
  ],
  [
    'code with a gap',
    'calls “fetchUsers(page, … limit)”',
    'It calls fetchUsers(page, offset, limit) now.',
  ],
  ['a rounded number', 'about 1,200 people came', 'We counted 1,187 people.'],
  ['a rounded sum', 'paid almost $500', 'I paid $489 for it.'],
  ['a rounded number in Japanese', '約1200人', '1187人が来ました'],
  ['a fraction of a formula', 'the result is 2/3', 'So it is \\frac{2}{3}.'],
  ['a list of numbers', 'levels 10/15/25', 'The levels are 10, 15 and 25.'],
  ['a span of sizes', 'tablets: 769px–1024px', 'From 769px on, up to 1024px.'],
  ['an identifier of which a part is left out', 'commit 9f3…c1ab', 'I pushed 9f3 e77 c1ab.'],
  ['a sum of what stands in front of it', '25 red, 37 blue, total 62', '25 red ones, 37 blue.'],
  ['a sum of money', '30 EUR + 12 EUR = 42 EUR', 'I paid 30 EUR, then 12 EUR.'],
])('a derived value is accepted: %s', (_what, text, said) => {
  expect(underivedIn(text, said)).toEqual([]);
});

describe('a value that does not', () => {
  test.each([
    ['a duration of which nobody spoke', 'waits 90000 ms', 'The time-out is 60 s.', ['90000 ms']],
    [
      'an exact number near another one',
      '1,200 people came',
      'We counted 1,187 people.',
      ['1,200 people'],
    ],
    [
      'a round one too far away',
      'about 1,500 people came',
      'We counted 1,187 people.',
      ['1,500 people'],
    ],
    [
      'a link with a part that nobody said',
      'see https://example.org/docs/pay',
      'On https://example.org under docs.',
      ['https://example.org/docs/pay'],
    ],
    [
      'code with words that nobody said',
      'calls “dropUsers(… limit)”',
      'It calls fetchUsers(page, limit).',
      ['dropUsers(… limit)'],
    ],
    ['a sum that is wrong', '25 red, 37 blue, total 64', '25 red ones, 37 blue.', ['64']],
    [
      'a day that is told as about one',
      'about 2026-03-12',
      'It was on 2026-03-11.',
      ['2026-03-12'],
    ],
    [
      'another version within a link',
      'https://cdn.example.com/lib/0.3.2/lib.min.js',
      'Load https://cdn.example.com/lib/5.3.2/lib.min.js with 0 delay, 3 times, 2 tries.',
      ['https://cdn.example.com/lib/0.3.2/lib.min.js'],
    ],
    ['a fraction of other numbers', 'the result is 3/7', 'So it is \\frac{2}{3}.', ['3/7']],
  ])('an underived value is refused: %s', (...[, text, said, underived]) => {
    expect(underivedIn(text, said)).toEqual(underived);
  });

  test.each([
    [
      'an order whose figures were exchanged',
      'The user asked about ORD-20213',
      'My order is ORD-20231.',
      ['ORD-20213'],
    ],
    [
      'a telephone number put together of two',
      'Ana: 555-0199',
      'Ana has 555-0142. Leo has 556-0199.',
      ['555-0199'],
    ],
    [
      'a link to a place of which nobody spoke',
      'see https://kx.example/pay',
      'Read https://a.example/help, or write to b.example.',
      ['https://kx.example/pay'],
    ],
    ['an identifier of single signs', 'Locker A-7-3-9', 'Which locker is mine?', ['A-7-3-9']],
  ])('an underivable value that would do harm is refused: %s', (...[, text, said, underived]) => {
    expect(underivedIn(text, said)).toEqual(underived);
  });
});
