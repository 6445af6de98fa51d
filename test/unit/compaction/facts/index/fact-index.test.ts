import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { indexFacts, isHeld } from '#shared/compaction/facts/index/fact-index.ts';
import type { FactKind } from '#shared/compaction/facts/index/fact.ts';

const at = new Date('2026-11-21T10:00:00Z');

function heldIn(said: string, kind: FactKind, snapshot: string): boolean {
  const [fact] = extractFacts([{ seq: 1, speaker: 'user', text: said, at }]).filter(
    (one) => one.kind === kind,
  );
  if (fact === undefined) throw new Error(`no ${kind} in ${said}`);
  return isHeld(fact, indexFacts([snapshot]));
}

describe('isHeld', () => {
  test.each([
    ['on May 20th', 'date', 'departs 2026-05-20'],
    ['on 20.05.2026', 'date', 'May 20, 2026'],
    ['3월 5일에', 'date', 'am 5. März'],
    ['2026年3月5日', 'date', '5 March 2026'],
    ['See you tomorrow', 'date', 'meets on 2026-11-22'],
    ['next Wednesday works', 'date', 'on 2026-11-25'],
    ['at 3:30 pm', 'time', 'at 15:30'],
    ['오후 3시', 'time', 'at 3 pm'],
    ['for $1,204.50', 'amount', '1204.5 USD'],
    ['57600원', 'amount', 'the price is 57,600 won'],
    ['for 250 euros', 'amount', 'budget: 250'],
    ['add 3 checked bags', 'quantity', 'checked bags: three'],
    ['seven nights', 'quantity', '7 nights'],
    ['it ends in 7447', 'number', 'card 7447'],
    ['订单１２３４５６７', 'identifier', 'order 1234567'],
    ['order ord-20231', 'identifier', 'ORD-20231'],
    ['a film with Anna Lee', 'name', 'Anna Leeを見た'],
    ['call +82 10-1234-5678', 'phone', 'phone 01012345678'],
    ['see https://www.a.example/x/', 'link', 'http://a.example/x'],
    ['open ./src/app/main.ts', 'path', 'src/app/main.ts'],
    ['from Rio Grande to X', 'name', 'leaves rio  grande'],
    ['to Ivan Garcia please', 'name', 'passenger: Garcia, Ivan'],
    [
      'Never book a middle seat on any flight.',
      'instruction',
      'never book any middle seat (flight)',
    ],
    ['저는 땅콩 알레르기가 있어요.', 'instruction', '- 땅콩 알레르기가 있음'],
  ] as const)('isHeld finds %j (%s) in %j', (said, kind, snapshot) => {
    expect(heldIn(said, kind, snapshot)).toBe(true);
  });

  test.each([
    ['on May 20th', 'date', '2026-05-21'],
    ['on May 20, 2026', 'date', 'May 20, 2027'],
    ['at 3:30 pm', 'time', '3:30 am'],
    ['for $250', 'amount', '250 EUR'],
    ['for $250', 'amount', '$2501'],
    ['add 3 checked bags', 'quantity', '2 of them, room 3'],
    ['游玩时间1小时', 'quantity', '3小时，1人'],
    ['stay for 12 hours', 'quantity', 'call 010-12-3456 at 9'],
    ['it ends in 7447', 'number', '74471'],
    ['it has 20 of them', 'number', 'on 2026-05-20'],
    ['order ORD-20231', 'identifier', 'ORD-20232'],
    ['see https://a.example/x', 'link', 'https://a.example/xy'],
    ['to Ann Lee please', 'name', 'Joann Leeds'],
    ['Never book a middle seat on any flight.', 'instruction', 'book a middle seat on any flight'],
    ['Never book a middle seat on any flight.', 'instruction', 'never\n\nbook\n\nmiddle\n\nseat'],
  ] as const)('isHeld does not find %j (%s) in %j', (said, kind, snapshot) => {
    expect(heldIn(said, kind, snapshot)).toBe(false);
  });

  test('isHeld resolves tomorrow from the day on which it was said', () => {
    const index = indexFacts(['we meet tomorrow'], [at]);

    expect(isHeld({ kind: 'date', key: '2026-11-22', text: '2026-11-22' }, index)).toBe(true);
  });
});
