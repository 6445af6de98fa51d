import { describe, expect, test } from 'vitest';
import { statedIdentifiers } from '#shared/compaction/rewrite/stated-identifiers.ts';

const identifiersIn = (text: string) => statedIdentifiers([{ seq: 1, text }]).map((f) => f.text);

describe('statedIdentifiers', () => {
  test.each([
    ['My order is ORD-20231, please.', ['ORD-20231']],
    ['See #12345 and #7.', ['#12345', '#7']],
    ['Booking AB12CD!', ['AB12CD']],
    ['Order 20231 it is.', ['20231']],
    ['주문번호는 20231105입니다.', ['20231105']],
    ['注文番号は1234567です', ['1234567']],
    ['订单号１２３４５６', ['１２３４５６']],
    ['Write to jane.doe+x@example.co.uk.', ['jane.doe+x@example.co.uk']],
    ['Look at https://example.com/a?b=1, then call.', ['https://example.com/a?b=1']],
    ['Call +82 10-1234-5678 or 010-1234-5679.', ['+82 10-1234-5678', '010-1234-5679']],
    ['Call (02) 123 4567.', ['(02) 123 4567']],
    ['It costs 1,250,000 won.', ['1,250,000 won']],
    ['In 2023 we ran 100km in 90min at 3pm.', []],
    ['From 100-150 won, in 2020-2023.', []],
    ['Dial 555-1234.', ['555-1234']],
    ['It happened at 2024-08-05 19:33:02.', ['2024-08-05']],
    ['No facts here.', []],
    ['', []],
    ['AB12CD and ab12cd are one.', ['AB12CD']],
    ['Always pay from account 12345678.', ['12345678']],
  ])('statedIdentifiers: %s', (text, identifiers) => {
    expect(identifiersIn(text)).toEqual(identifiers);
  });

  test('statedIdentifiers leaves out what the user only shows', () => {
    expect(identifiersIn('What is this?\n```\nERR-40411 at 0x80070057\n```')).toEqual([]);
  });

  test('statedIdentifiers names the turn that states an identifier first', () => {
    const stated = statedIdentifiers([
      { seq: 4, text: 'My order is ORD-20231.' },
      { seq: 9, text: 'Where is ord-20231?' },
    ]);

    expect(stated).toMatchObject([{ text: 'ORD-20231', seqs: [4, 9] }]);
  });
});
