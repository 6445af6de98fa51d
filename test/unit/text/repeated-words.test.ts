import { repeats } from '#shared/text/sentences.ts';
import { describe, expect, test } from 'vitest';

const said = [
  'Hello there! My order ORD-4711 has not come. Please call Anna Weber at anna@example.org.',
  '我的护照号码写在蓝色的本子里。',
];

describe('whether a statement repeats what was said', () => {
  test.each([
    ['a whole sentence', 'User: "my order  ord-4711 has NOT come"'],
    ['part of a sentence, word for word', 'Please call Anna Weber'],
    ['an order number', 'The parcel ORD-4711 is late.'],
    ['an e-mail address', 'Write to ANNA@example.org'],
    ['a sentence of a script without blanks', '用户：我的护照号码写在蓝色的本子里'],
  ])('the repetition check finds %s', (_, statement) => {
    expect(repeats(said)(statement)).toBe(true);
  });

  test.each([
    ['other words', 'The user waits for a parcel.'],
    ['a short sentence that anybody says', 'Hello there'],
    ['another order number', 'The parcel ORD-4712 is late.'],
  ])('the repetition check does not find %s', (_, statement) => {
    expect(repeats(said)(statement)).toBe(false);
  });

  test('the repetition check does not treat a date as an identifier', () => {
    expect(repeats(['We leave on 2026-11-21, they say.'])('Booked on 2026-11-21.')).toBe(false);
  });
});
