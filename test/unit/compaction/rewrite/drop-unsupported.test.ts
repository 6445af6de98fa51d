import { expect, test } from 'vitest';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { dropUnsupported } from '#shared/compaction/rewrite/drop-unsupported.ts';
import { emptySections } from '#shared/compaction/snapshot-sections.ts';

const invented = (line: string, ...sources: string[]) =>
  dropUnsupported({ ...emptySections, key_knowledge: line }, indexFacts(sources)).unsupportedFacts;

test.each([
  ['a thousands separator', 'It costs 12,500 won', 'It costs 12500 won'],
  ['none, and the line one', 'It costs 12500 won', 'It costs 12,500 won'],
  ['full-width figures', '注文は１２３４５番', 'Order 12345'],
  ['the other decimal sign', 'EUR 1.204,50', '1204.5 EUR'],
  ['a multiplier', 'a budget of 10k', 'a budget of 10,000'],
  ['none, and the line a multiplier', 'a budget of 10,000', 'a budget of 10k'],
  ['a Korean multiplier', '예산은 35만원', 'The budget is 350,000 won'],
  ['a written date', 'on 25 December 2023', 'on 2023-12-25'],
  ['an ISO date', 'on 2023-10-25', 'on 25 October 2023'],
  ['a slashed date', 'on 5/18/23', 'on 18 May 2023'],
  ['a date with points', 'am 17.05.2026', '2026-05-17'],
  ['the 12-hour clock', 'at 2:30 pm', 'at 14:30'],
  ['the 24-hour clock', 'at 22:15', 'at 10:15 pm'],
  ['number words', 'twelve people, twenty-five dogs', '12 people and 25 dogs'],
  ['a telephone number', 'call 010-1234-5678', '010 1234 5678'],
  ['one with a number behind it', 'call +44 20 7946 0100. 1. Clay', '+44 20 7946 0100'],
  ['an identifier in two words', 'order ord 20231', 'ORD-20231'],
  ['an identifier in another case', 'ab-2031x', 'AB-2031X'],
  ['a link', 'see https://example.org/a/12?b=34.', 'https://example.org/a/12?b=34'],
  ['a unit in small letters', 'at 10 am with 64 gb', 'at 10AM with 64GB'],
  ['the text of a list item', 'Clay', '12. Clay'],
  ['the text behind a bullet', 'Clay', '- 12) Clay'],
  ['the text of an ordinal', 'Clay', '11th Clay'],
  ['no single digit', 'Clay', 'Clay, 3 bags'],
  ['what was counted', 'Clay and sand', '12 kinds of material'],
  ['the day before "tomorrow"', 'today is 12 May 2026', 'on 2026-05-13'],
  ['a list with commas', 'rooms 10,20,30', 'rooms 10, 20 and 30'],
  ['other words than a paraphrase in quotes', 'Bring red folders', 'Asked for "a red folder"'],
])('a summary line stays whose source has %s', (_, source, line) => {
  expect(invented(line, source)).toEqual([]);
});

test.each<[string, string, string[]]>([
  ['invoice INV-20412', 'invoice INV-20411', ['INV-20411']],
  ['costs $1,204.50', 'costs $1,204.51', ['$1,204.51']],
  ['costs 45.67', 'costs 45.68', ['45.68']],
  ['on 2026-05-12', 'on 2027-05-12', ['2027-05-12']],
  ['on 12 May 2024', 'on 12 May 2025', ['12 May 2025']],
  ['room 4711', 'room 471', ['471']],
  ['Clay', 'Clay 1,200 times', ['1,200 times']],
  ['a.b@example.org', 'a.c@example.org', ['a.c@example.org']],
  ['nothing', '350 EUR for AB-1234', ['350 EUR', 'AB-1234']],
])('the unsupported-line check: %j does not support %j', (source, line, facts) => {
  expect(invented(line, source)).toEqual(facts);
});

test.each(['1', '0', '1,', '1.', 'a1-', '-2', '２'])(
  'a summary line of %j, repeated, is checked in time',
  (piece) => {
    const text = piece.repeat(50_000);

    expect(invented(text, text)).toEqual([]);
  },
);
