import { describe, expect, test } from 'vitest';
import { identifiersIn, missingIdentifiers } from '../../../shared/compaction/facts.ts';

describe('identifiersIn', () => {
  test.each([
    ['My order is ORD-20231, please.', ['ORD-20231']],
    ['See #12345 and #7.', ['#12345']],
    ['Booking AB12CD!', ['AB12CD']],
    ['주문번호는 20231105입니다.', ['20231105']],
    ['注文番号は1234567です', ['1234567']],
    ['订单号１２３４５６', ['123456']],
    ['Write to jane.doe+x@example.co.uk.', ['jane.doe+x@example.co.uk']],
    ['Look at https://example.com/a?b=1, then call.', ['https://example.com/a?b=1']],
    ['Call +82 10-1234-5678 or 010-1234-5678.', ['010-1234-5678', '+82 10-1234-5678']],
    ['Call (02) 123 4567.', ['(02) 123 4567']],
    ['It costs 1,250,000 won.', ['1250000']],
    ['In 2023 we ran 100km in 90min at 3pm with v2.', []],
    ['From 100-150 won, in 2020-2023.', []],
    ['Dial 555-1234.', ['555-1234']],
    ['It happened at 2024-08-05 19:33:02.', ['2024-08-05']],
    ['No facts here.', []],
    ['', []],
    ['AB12CD and ab12cd are one.', ['AB12CD']],
  ])('%s', (text, identifiers) => {
    expect(identifiersIn(text)).toEqual(identifiers);
  });

  test.each(['1', '1-', '0 ', 'a@', '+1 (', 'a1b2', 'http://', '1,000'])(
    'comes to an end with a long text of %j',
    (piece) => {
      const found = identifiersIn(piece.repeat(Math.floor(500_000 / piece.length)));

      expect(found.length).toBeLessThan(100_000);
    },
  );
});

describe('missingIdentifiers', () => {
  test.each([
    ['kept as it was', 'order ORD-20231', 'The order is ORD-20231.', []],
    ['other case', 'code AB12CD', 'code ab12cd', []],
    ['other separators', 'call 010-1234-5678', 'phone 010 1234 5678', []],
    ['thousands separators', 'pay 1250000', 'pay 1,250,000 won', []],
    ['as part of a joined one', 'order 20231', 'order ORD-20231', []],
    ['with a number sign', 'ticket #12345', 'ticket 12345', []],
    ['inside an address', 'see https://a.example/x1', '(https://a.example/x1)', []],
    ['lost', 'order ORD-20231 and 99887', 'an order and 99887', ['ORD-20231']],
    ['part of a longer number', 'order 12345', 'order 9123456', ['12345']],
    ['said twice', '12345 and 12345', '', ['12345']],
  ])('%s', (...[, said, context, missing]) => {
    expect(missingIdentifiers([said], [context])).toEqual(missing);
  });
});
