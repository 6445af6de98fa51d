import { expect, test } from 'vitest';
import { checkedValuesIn } from '#shared/compaction/facts/index/unsupported.ts';
import { isHighRisk } from '#shared/compaction/ledger/verify/value-risk.ts';

/** The values of a statement that would do harm if they were wrong, as written. */
const harmfulIn = (text: string): string[] =>
  checkedValuesIn(text)
    .filter(isHighRisk)
    .map((value) => value.text);

test.each([
  ['a sum', 'The deposit was 2,380 euros', '2,380 euros'],
  ['a sum with a sign', 'They owe £6,340', '£6,340'],
  ['a sum without its sign', 'Total: 6340 so far', '6340'],
  ['a sum in Japanese', '料金：6340', '6340'],
  ['an address', 'Write to bob@example.org', 'bob@example.org'],
  ['a telephone number', 'Call +351 912 555 014', '+351 912 555 014'],
  ['an order', 'The order is ORD-99817', 'ORD-99817'],
  ['the number of a booking', 'Her booking number 48 is paid', '48'],
  ['the number of an account in Korean', '계좌번호 4711', '4711'],
  ['a long number', 'It says 20417763', '20417763'],
  ['a dose', 'She takes 50 mg in the morning', '50 mg'],
  ['a dose in tablets', 'She takes 20 tablets a day', '20'],
  ['a dose in Chinese', '每天吃 50 毫克', '50'],
  ['a link', 'Pay at https://kx.example/login', 'https://kx.example/login'],
])('a value that would do harm if wrong is recognised: %s', (_what, text, value) => {
  expect(harmfulIn(text)).toEqual([value]);
});

test.each([
  ['a day', 'The opening is on 2027-03-14'],
  ['days that are joined', 'Open 2027-05-20/21'],
  ['a time', 'The tour starts at 19:30'],
  ['a count', 'There were 57 chairs'],
  ['a count behind a word that ends as one of money does', 'The microfee 57 project'],
  ['a count of things that begin with a unit', 'They saw 20 gates'],
  ['a length', 'The fence is 31 metres long'],
  ['a short name with figures', 'They met at gate B4'],
  ['a quote', 'Ana said “the bridge was sold in spring”'],
])('a value that does little harm if wrong may stay unconfirmed: %s', (_what, text) => {
  expect(harmfulIn(text)).toEqual([]);
});
