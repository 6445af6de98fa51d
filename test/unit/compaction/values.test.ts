import { describe, expect, test } from 'vitest';
import {
  findValues,
  indexValues,
  markValues,
  UNSAID_MARK,
  withoutMarkedValues,
  withoutMarks,
} from '#shared/compaction/values.ts';

const found = (text: string): string[] => [...new Set(findValues(text).map((value) => value.text))];

/** The values of a statement that a text does not say. */
function unsaid(said: string, statement: string): string[] {
  const values = findValues(statement);
  const index = indexValues(values, [{ place: 1, text: said }]);
  const missing = values.filter((value) => index.holders(value).length === 0);
  return [...new Set(missing.map(({ text }) => text))];
}

test.each([
  ['small numbers', 'two of 12 eggs'],
  ['a list', '7-9-12'],
  ['a list in words', '7, 9, and 12'],
  ['a day', '10.04.2026'],
  ['a day of ISO 8601', '2026-11-21'],
  ['a time', '14:30'],
  ['a time with a point', '7.30'],
  ['a year', 'in 1998'],
  ['a Thai year', 'พ.ศ. 2569'],
  ['years', 'the 1990s'],
  ['a superscript', 'x² and 10²'],
  ['a quarter', 'in Q3'],
  ['a seat', 'seat 12B'],
  ['an ordinal', 'the 3rd'],
  ['a fraction', '1/2 of it, or ½'],
  ['words', 'nothing at all'],
  ['words that are codes of currencies too', '1 cup of it, 2 pen pals, 3 all in one'],
])('%s: is none', (_what, text) => {
  expect(found(text)).toEqual([]);
});

test.each([
  ['1250', '1 250'],
  ['1 250', '1.250'],
  ['1.250', '1,250'],
  ['1’250', '1250'],
  ['150000', '1,50,000'],
  ['1,50,000', '150,000'],
  ['١٢٥٠', '1,250'],
  ['1_000_000', '1,000,000'],
  ['CHF 1’999.95', '1.999,95 CHF'],
  ['12.5 €', '12,50 €'],
  ['12 €', '12.00 €'],
  ['1.250 kg', '1.25 kg'],
  ['0,5 l', '0.5 l'],
  ['5 kg', '5kg'],
  ['500–700 €', 'between 500 and 700 €'],
  ['3 to 5 kg', '3-5 kg'],
  ['rooms 101, 102 and 103', 'rooms 101 102 103'],
  ['٠٥٠١٢٣٤٥٦٧', '050 123 4567'],
  ['050 123 4567', '0501234567'],
  ['(030) 771 23 45', '030/7712345'],
  ['030/771 2345', '+49 30 7712345'],
  ['DE89370400440532013000', 'DE89 3704 0044 0532 0130 00'],
  ['DE89 3704 0044 0532 0130 00', 'DE89370400440532013000'],
  ['QX-7719', 'qx7719'],
  ['QX 7719', 'QX-7719'],
  ['QX-7719', 'number 7719'],
  ['http://www.a.example/', 'https://a.example'],
  ['https://a.example/order/4711', 'order 4711'],
  ['Bob@a.example', 'bob@a.example'],
  ['３００円', '300 JPY'],
  ['48.8566, 2.3522', '48.8566,2.3522'],
])('%j → %j', (said, statement) => {
  expect(unsaid(said, statement)).toEqual([]);
});

test.each([
  ['1 250 €', '2 250 €', '2 250'],
  ['1.250', '1.251', '1.251'],
  ['1’250', '1’260', '1’260'],
  ['1,250', '250,000', '250,000'],
  ['1,50,000', '2,50,000', '2,50,000'],
  ['₹1,50,000', '₹1,51,000', '1,51,000'],
  ['1,234,567', '234,567', '234,567'],
  ['١٢٥٠', '١٢٥١', '١٢٥١'],
  ['٠٥٠١٢٣٤٥٦٧', '٠٥٠١٢٣٤٥٦٨', '٠٥٠١٢٣٤٥٦٨'],
  ['12.50 €', '1,250 €', '1,250'],
  ['12.50 €', '125 €', '125'],
  ['€1,999.95', '€199,995', '199,995'],
  ['50 zł', '60 zł', '60'],
  ['50元的票', '60元的票', '60'],
  ['0.125', '125', '125'],
  ['3.50 500', '3.50 501', '3.50 501'],
  ['500² of them', '501² of them', '501'],
  ['500–700 €', '500–800 €', '500–800'],
  ['3-5 kg', '3-6 kg', '3-6'],
  ['5 kg', '6 kg', '6'],
  ['five kg', '5 kg', '5'],
  ['10.04.2026', '1004', '1004'],
  ['14:30', '1430', '1430'],
  ['+351 912 555 014', '+351 912 555 041', '351 912 555 041'],
  ['+351 912 555 014', '+351 555 912 014', '351 555 912 014'],
  ['050 123 4567', '0501234568', '0501234568'],
  ['DE89 3704 0044 0532 0130 00', 'DE98370400440532013000', 'DE98370400440532013000'],
  ['DE89370400440532013000', 'DK89370400440532013000', 'DK89370400440532013000'],
  ['QX-7719', 'QX-7791', 'QX-7791'],
  ['QX-7719', 'QY-7719', 'QY-7719'],
  ['QX-7719 and AB-1234', 'QX-1234', 'QX-1234'],
  ['9001', 'ISO-9001', 'ISO-9001'],
  ['192.168.0.1', '192.168.0.2', '192.168.0.2'],
  ['https://a.example/b?c=9', 'https://a.example/b?c=8', 'https://a.example/b?c=8'],
  ['bob@a.example', 'bob@b.example', 'bob@b.example'],
  ['bob@a.example', 'rob@a.example', 'rob@a.example'],
  ['85 m²', '58 m²', '58'],
  ['€20k', '€30k', '30k'],
  ['20k EUR', '30k EUR', '30k'],
  ['SN-00123-AB', 'SN-00123-AC', 'SN-00123-AC'],
  ['48.8566, 2.3522', '48.8566,2.3552', '48.8566,2.3552'],
])('%j → %j', (said, statement, value) => {
  expect(unsaid(said, statement)).toEqual([value]);
});

test('the index names every place that says a value, ascending', () => {
  const values = findValues('471');
  const index = indexValues(values, [
    { place: 3, text: 'room 471' },
    { place: 5, text: 'nothing' },
    { place: 8, text: 'room 471, and again 471' },
  ]);

  expect(values.map((value) => index.holders(value))).toEqual([[3, 8]]);
});

describe('marks', () => {
  const marked = `Room 471${UNSAID_MARK} for 5${UNSAID_MARK} €`;

  test('a mark stands behind each value, once', () => {
    const text = 'Room 471 for 5 €';
    const values = findValues(text);

    expect(markValues(text, [...values, ...values])).toBe(marked);
  });

  test('a value of several parts has one mark', () => {
    const text = 'ticket QX-7719';

    expect(markValues(text, findValues(text))).toBe(`${text}${UNSAID_MARK}`);
  });

  test('a link that ends in a mark is the link', () => {
    expect(found(`see https://a.example/b${UNSAID_MARK}`)).toEqual(['https://a.example/b']);
  });

  test.each([
    ['behind a value', marked, 'Room 471 for 5 €'],
    ['behind a blank', `Room 471 ${UNSAID_MARK}.`, 'Room 471.'],
    ['none', 'Room 471', 'Room 471'],
  ])('a text without marks: %s', (_where, text, plain) => {
    expect(withoutMarks(text)).toBe(plain);
  });

  test.each([
    ['the marked values alone', `Room 471${UNSAID_MARK} for 5 €`, 'Room   for 5 €'],
    ['the marked amounts', `Lunch 54${UNSAID_MARK} EUR, 20${UNSAID_MARK}€`, 'Lunch   EUR,  €'],
    ['the mark of a statement', `Somebody came${UNSAID_MARK}`, 'Somebody came'],
    ['nothing where nothing is marked', 'Room 471', 'Room 471'],
  ])('a text without marked values lacks %s', (_what, text, plain) => {
    expect(withoutMarkedValues(text)).toBe(plain);
  });
});
