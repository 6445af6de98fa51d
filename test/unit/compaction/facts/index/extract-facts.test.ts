import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { indexFacts, isHeld } from '#shared/compaction/facts/index/fact-index.ts';
import type { Speaker, Utterance } from '#shared/conversation/utterances.ts';

const at = new Date('2026-11-21T10:00:00Z');

const says = (speaker: Speaker, text: string, seq = 1): Utterance => ({ seq, speaker, text, at });

const factsOf = (text: string, speaker: Speaker = 'user') => extractFacts([says(speaker, text)]);

test('a wish that the user takes back at once is no fact', () => {
  const text = 'Never call me after 8 pm. Scratch that, call 030-1234567 whenever you like.';

  expect(factsOf(text).map((fact) => fact.text)).toEqual(['030-1234567']);
});

describe('extractFacts', () => {
  test.each([
    ['Read https://docs.example.com/a_(b)?q=1.', 'link', 'https://docs.example.com/a_(b)?q=1'],
    ['See shop.example.com/cart please', 'link', 'shop.example.com/cart'],
    ['Write to jane.doe+x@example.co.uk.', 'email', 'jane.doe+x@example.co.uk'],
    ['Call +82 10-1234-5678 now', 'phone', '+82 10-1234-5678'],
    ['전화는 010-1234-5678이에요', 'phone', '010-1234-5678'],
    ['Open src/app/main.ts:12 first', 'path', 'src/app/main.ts'],
    ['It lies in /var/log/nginx today', 'path', '/var/log/nginx'],
    ['Booking M05KNL, please', 'identifier', 'M05KNL'],
    ['My user id is ana_li_3668', 'identifier', 'ana_li_3668'],
    ['订单号是１２３４５６７', 'identifier', '１２３４５６７'],
    ['Use version 2.13.4', 'identifier', '2.13.4'],
    ['We fly on May 20th, 2026', 'date', 'May 20th, 2026'],
    ['Abreise am 3. Mai 2026', 'date', '3. Mai 2026'],
    ['3월 5일에 만나요', 'date', '3월 5일'],
    ['2026年3月5日出发', 'date', '2026年3月5日'],
    ['See you next Wednesday', 'date', 'next Wednesday'],
    ['The 14th of this month', 'date', '14th of this month'],
    ['after 11:30 a.m. only', 'time', '11:30 a.m.'],
    ['오후 3시 30분에', 'time', '오후 3시 30분'],
    ['下午3点半见', 'time', '下午3点半'],
    ['I pay $1,204.50 for it', 'amount', '$1,204.50'],
    ['人均100-150元的', 'amount', '100-150元'],
    ['57600원인데', 'amount', '57600원'],
    ['add 3 checked bags', 'quantity', '3 checked bags'],
    ['two nights in a hotel', 'quantity', 'two nights'],
    ['나는 34살이고', 'quantity', '34살'],
    ['The card that ends in 7447', 'number', '7447'],
    ['키는 163.2', 'number', '163.2'],
    ['I fly from Rio Grande to Oslo', 'name', 'Rio Grande'],
    ['Book the flight to Oslo', 'name', 'Oslo'],
    ['Is it warm in Portland, TX now?', 'name', 'Portland, TX'],
    ['What about a love story by Jane Roe?', 'term', 'love story'],
    ['Find me a movie directed by Jane Roe', 'name', 'Jane Roe'],
    ['麻烦问下北京友谊宾馆的电话', 'name', '北京友谊宾馆'],
    ['颐和园的门票多少钱？', 'name', '颐和园'],
    ['我就去北京东方君悦大酒店吧', 'name', '北京东方君悦大酒店'],
    ['北京乾元酒店的价格是多少钱？', 'name', '北京乾元酒店'],
    ['출발지는 한빛고등학교야', 'name', '한빛고등학교'],
    ['Never book a middle seat.', 'instruction', 'Never book a middle seat.'],
  ])('extractFacts finds in %j the %s %j, which only the user can state', (text, kind, written) => {
    expect(factsOf(text)).toContainEqual(expect.objectContaining({ kind, text: written, tier: 1 }));
  });

  test.each([
    ['plain talk', 'yes, that sounds lovely to me'],
    ['a fraction of a phrase', 'this and/or that, either/or'],
    ['a word that begins a sentence', 'Wonderful. Really. Indeed it was'],
    ['a single digit', 'I have 3'],
    ['a common thing that is asked for', 'Can you find me a movie directed by her?'],
  ])('extractFacts finds nothing in %s', (_, text) => {
    expect(factsOf(text)).toEqual([]);
  });

  test.each([
    ['model', 2],
    ['call', 2],
    ['tool', 3],
  ] as const)('extractFacts ranks a statement of %s in tier %i', (speaker, tier) => {
    expect(factsOf('order ORD-20231', speaker)).toMatchObject([{ tier, speaker }]);
  });

  test('extractFacts reads only links, paths and identifiers from long tool output', () => {
    const text = `${'filler words '.repeat(200)} costs $250 at https://a.example/x for ORD-20231`;

    expect(factsOf(text, 'tool').map(({ kind }) => kind)).toEqual(['link', 'identifier']);
  });

  test('extractFacts attributes a fact to the user’s words even if the model said it first', () => {
    const facts = extractFacts([
      says('model', 'Your code is ZX81QR.', 3),
      says('user', 'Yes, it is ZX81QR!', 4),
      says('model', 'ZX81QR it is.', 5),
    ]);

    expect(facts.filter(({ kind }) => kind === 'identifier')).toMatchObject([
      { tier: 1, speaker: 'user', seqs: [4, 5], sentence: 'Yes, it is ZX81QR!' },
    ]);
  });

  test('extractFacts weights a fact by the number of turns that state it', () => {
    const once = extractFacts([says('user', 'ZX81QR', 1)]);
    const twice = extractFacts([says('user', 'ZX81QR', 1), says('user', 'ZX81QR', 2)]);

    expect(twice[0]?.weight).toBeGreaterThan(once[0]?.weight ?? Infinity);
  });

  test('extractFacts treats one date in two notations as one fact', () => {
    const facts = extractFacts([says('user', 'on 2026-05-20'), says('user', 'May 20, 2026', 2)]);

    expect(facts).toMatchObject([{ kind: 'date', key: '2026-05-20', seqs: [1, 2] }]);
  });

  test.each(['没有啦，谢谢。', '好的谢谢您', '不用了', '괜찮아요', 'ないです'])(
    'extractFacts does not treat the courtesy %j as a value',
    (text) => {
      const facts = extractFacts([says('model', '还有什么需要吗？'), says('user', text, 2)]);

      expect(facts.filter(({ speaker }) => speaker === 'user')).toEqual([]);
    },
  );

  test('extractFacts treats a short answer to a question as a value', () => {
    const facts = extractFacts([
      says('model', 'In which language shall the subtitles be?'),
      says('user', 'spanish please', 2),
    ]);

    expect(facts).toContainEqual(
      expect.objectContaining({ kind: 'name', text: 'spanish', tier: 1 }),
    );
  });

  test('extractFacts finds values that the user’s words ask a tool for', () => {
    const facts = extractFacts([
      says('user', 'something with green curry, maybe'),
      says('call', 'find: {"dish":"Green Curry"}'),
    ]);

    expect(facts).toContainEqual(
      expect.objectContaining({ kind: 'name', text: 'green curry', tier: 1 }),
    );
  });

  test('extractFacts ranks text in a user’s code fence no higher than tier 2', () => {
    const facts = factsOf('Why?\n```\nretry = 4711\n```');

    expect(facts.map(({ tier }) => tier)).toEqual([2]);
  });

  test('extractFacts keeps at most 400 facts of an utterance, the heaviest', () => {
    const numbers = Array.from({ length: 900 }, (_, i) => `n ${1_000 + i},`).join(' ');

    const facts = factsOf(`${numbers} and ORD-20231`);

    expect(facts).toHaveLength(400);
    expect(facts).toContainEqual(expect.objectContaining({ text: 'ORD-20231' }));
  });

  test('extractFacts returns only whole sentences that contain the fact', () => {
    const piece = fc.constantFrom(
      '😀',
      '👨‍👩‍👧',
      ' ',
      '. ',
      '。',
      '\n',
      '5',
      '20',
      'May ',
      '3月5日',
      'Anna ',
      '$',
      'id_77',
      '"',
      '(',
      'é',
      '\ud83d',
      '가',
      '원',
      '-',
      'http://x.example/',
      '@',
      '北京',
      '```\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        for (const fact of factsOf(pieces.join(''))) {
          expect(fact.text.isWellFormed()).toBe(true);
          expect(fact.sentence.isWellFormed()).toBe(true);
          expect(fact.sentence).toContain(fact.text);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('extractFacts finds only facts that an index of the same texts holds', () => {
    const piece = fc.constantFrom(
      ' ',
      '. ',
      '\n',
      '5',
      '20',
      '1,000',
      '.50',
      'May 3',
      ' 2026',
      '3월 5일',
      ' Anna',
      ' Lee ',
      '$',
      '€',
      'id_77',
      '"',
      ' kg',
      ' days',
      '원',
      '-',
      ' https://x.example/a',
      ' a@b.example',
      '北京饭店',
      ' 12:30',
      ' pm',
      ' 010-1234-5678',
      ' src/a.ts',
      ' Never use it.',
      ' next Friday',
      'x',
      'ß',
      'İ',
      'ﬁ',
      '½',
      '٣',
    );
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 25 }), { maxLength: 4 }), (texts) => {
        const utterances = texts.map((pieces, i) => says('user', pieces.join(''), i + 1));
        const index = indexFacts(utterances.map(({ text }) => text));
        const lost = extractFacts(utterances).filter((fact) => !isHeld(fact, index));
        expect(lost).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    'a',
    '1',
    '-',
    '{',
    '<',
    '.',
    '/',
    '"',
    '`',
    'A',
    'A ',
    '1-',
    '1 ',
    'a@',
    'a.',
    '"a',
    '汉',
    'あ',
    '가',
    '\n',
    '> ',
    '$1',
    '::',
    '_1',
    '1/2 ',
    'www.',
    '《',
    '(',
    'not ',
  ])(
    'extractFacts ends in time with a long text of %j',
    (piece) => {
      const text = piece.repeat(Math.floor(200_000 / piece.length));
      const facts = extractFacts([says('user', text), says('model', text), says('tool', text)]);

      expect(facts.length).toBeLessThanOrEqual(1_200);
      expect(indexFacts([text]).readings.size).toBeLessThanOrEqual(9);
    },
    20_000,
  );
});
