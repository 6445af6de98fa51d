import { describe, expect, test } from 'vitest';
import { fewerWords, withoutOpeners } from '#infra/fake-gemini/dense/fewer-words.ts';
import { detectLanguage, type Language } from '#infra/fake-gemini/dense/language.ts';
import { outsideQuotes } from '#infra/fake-gemini/dense/clause.ts';
import { resolveDates } from '#infra/fake-gemini/dense/resolve-dates.ts';
import {
  convertUnit,
  figuresForWords,
  joinRanges,
} from '#infra/fake-gemini/dense/rewrite-figures.ts';
import { cutStatement, elideCode, joinLinks } from '#infra/fake-gemini/dense/shorten.ts';
import { toThirdPerson } from '#infra/fake-gemini/dense/third-person.ts';

/** A Monday. */
const monday = '2023-05-08';

test.each<[Language, string, string]>([
  ['en', 'I went yesterday', 'I went 2023-05-07'],
  ['en', 'the day before yesterday', '2023-05-06'],
  ['en', 'last Saturday', '2023-05-06'],
  ['en', 'last Monday', '2023-05-01'],
  ['en', 'last Tues', '2023-05-02'],
  ['en', 'next Tuesday', '2023-05-09'],
  ['en', 'last week', 'week before 2023-05-08'],
  ['en', 'next month', '2023-06'],
  ['en', 'on the 7th of next month', 'on the 2023-06-07'],
  ['en', 'last year', '2022'],
  ['en', 'in 3 days', '2023-05-11'],
  ['en', 'two weeks ago', '2023-04-24'],
  ['en', 'last night', 'night of 2023-05-07'],
  ['en', 'this weekend', 'weekend of 2023-05-13'],
  ['en', 'on Friday', 'on Friday'],
  ['de', 'Ich war gestern dort', 'Ich war 2023-05-07 dort'],
  ['de', 'letzten Samstag', '2023-05-06'],
  ['de', 'Guten Morgen', 'Guten Morgen'],
  ['de', 'vor drei Tagen', '2023-05-05'],
  ['ja', '昨日行きました', '2023-05-07行きました'],
  ['ja', '来週の金曜日に', '2023-05-19に'],
  ['ja', '3日後', '2023-05-11'],
  ['zh', '我昨天去了', '我2023-05-07去了'],
  ['zh', '上周六', '2023-05-06'],
  ['zh', '今日美术馆', '今日美术馆'],
  ['zh', '下个月', '2023-06'],
  ['ko', '어제 갔어요', '2023-05-07 갔어요'],
  ['ko', '다음 주 금요일', '2023-05-19'],
  ['ko', '작년', '2022년'],
  ['other', 'hier', 'hier'],
])(
  'the dense summariser resolves a relative date from its day: %s: %s',
  (language, said, expected) => {
    expect(resolveDates(said, monday, language)).toBe(expected);
  },
);

describe('the first person becomes the third', () => {
  const ann = { speaker: 'Ann', hearer: 'Bea', isPronoun: false };

  test.each<[Language, string, string]>([
    ['en', 'I went to the shop', 'went to the shop'],
    ['en', 'I really like tea', 'really likes tea'],
    ['en', "I'm a nurse and I've moved", 'is a nurse and has moved'],
    ['en', "I'd love to, but I don't swim", "would love to, but doesn't swim"],
    ['en', 'We try new food', 'tries new food'],
    ['en', 'Since I have time, my dog likes it', 'Since Ann has time, their dog likes it'],
    ['en', 'It made me think of your dog', 'It made Ann think of Bea’s dog'],
    ['en', "You're right", 'Bea is right'],
    ['de', 'Ich wohne in Köln', 'wohnt in Köln'],
    ['de', 'Morgen fahre ich heim', 'Morgen fährt Ann heim'],
    ['ja', '私は東京に住んでいます', '東京に住んでいます'],
    ['zh', '我想问下我的朋友', '想问下Ann的朋友'],
    ['ko', '저는 서울에 살아요', '서울에 살아요'],
    ['other', 'Je suis là', 'Je suis là'],
  ])(
    'the dense summariser writes the first person as the third: %s: %s',
    (language, said, expected) => {
      expect(toThirdPerson(said, ann, language)).toBe(expected);
    },
  );

  test('the dense summariser uses a pronoun where somebody else is named first', () => {
    const told = toThirdPerson('It helped me when I was ill', { ...ann, isPronoun: true }, 'en');

    expect(told).toBe('It helped them when they were ill');
  });
});

test.each<[Language, string, string]>([
  ['en', 'Hey Mel! Wow, that is really the best tea.', 'that is best tea'],
  ['en', 'It was so powerful!', 'it was powerful'],
  ['en', 'The rent is 900 euros a month, you know.', 'rent is 900 euros per month'],
  ['de', 'Hallo! Der Tee ist gut.', 'Der Tee ist gut'],
  ['ja', 'はい、お茶が好きです。', 'お茶が好きです'],
  ['zh', '您好，谢谢，地址是长安街1号。', '地址是长安街1号'],
  ['ko', '네, 차를 좋아해요.', '차를 좋아해요'],
])('the dense summariser drops empty words, %s: %s', (language, said, expected) => {
  expect(fewerWords(withoutOpeners(said, language), language)).toBe(expected);
});

describe('figures', () => {
  test.each([
    ['two kids and twenty-five cows', '2 kids and 25 cows'],
    ['one day, two of them', 'one day, two of them'],
    ['two hundred cows', 'two hundred cows'],
  ])('the dense summariser writes number words as figures: %s', (said, expected) => {
    expect(figuresForWords(said)).toBe(expected);
  });

  test.each([
    ['a timeout of 60 s', 'a timeout of 60000 ms'],
    ['60000 ms', '60 s'],
    ['it takes 1.5 h', 'it takes 90 min'],
    ['it takes 90 minutes', 'it takes 1.5 h'],
    ['2 weeks', '14 days'],
    ['v1.60 s', 'v1.60 s'],
  ])('the dense summariser converts units exactly: %s', (said, expected) => {
    expect(convertUnit(said)).toBe(expected);
  });

  test.each<[Language, string, string]>([
    ['en', 'open from 10 to 12', 'open 10-12'],
    ['en', 'between 9:30 and 11:00', '9:30-11:00'],
    ['de', 'von 10 bis 12', '10-12'],
    ['zh', '10到12点', '10-12点'],
    ['ja', '10から12まで', '10-12'],
    ['ko', '10부터 12까지', '10-12'],
    ['en', 'moved from 10 Elm Road to 12', 'moved from 10 Elm Road to 12'],
  ])('the dense summariser joins the figures of a range, %s: %s', (language, said, expected) => {
    expect(joinRanges(said, language)).toBe(expected);
  });
});

describe('what is long', () => {
  test('the dense summariser joins a route to its server', () => {
    expect(joinLinks('server https://a.example, route /v1/users')).toBe(
      'server https://a.example, route https://a.example/v1/users',
    );
    expect(joinLinks('https://a.example, /v1/a and /v1/b')).toContain(', /v1/a and /v1/b');
  });

  test('the dense summariser shortens code in the middle', () => {
    const code = `const total = ${'price + '.repeat(10)}tax; return total;`;

    expect(elideCode(`run \`${code}\` and \`npm ci\``)).toBe(
      'run `const total = price + pr…eturn total;` and `npm ci`',
    );
  });

  test('the dense summariser ends a statement at a comma, not between figure and unit', () => {
    expect(cutStatement('bought apples, pears, plums', 24)).toBe('bought apples, pears…');
    expect(cutStatement('the parcel weighs 900 grams', 23)).toBe('the parcel weighs…');
  });
});

test('the dense summariser does not reword quotes, code, links, paths and identifiers', () => {
  const said = 'say "I am in", `I am`, https://a.example/I/am, src/I/am.ts, I_AM';

  expect(outsideQuotes(said, (text) => text.replaceAll('I', 'Ann'))).toBe(said);
});

test.each<[string, Language]>([
  ['I like the tea', 'en'],
  ['Ich mag den Tee nicht', 'de'],
  ['お茶が好きです', 'ja'],
  ['我喜欢喝茶', 'zh'],
  ['차를 좋아해요', 'ko'],
  ['Comment ça va', 'other'],
])('the dense summariser detects that the language of %s is %s', (text, language) => {
  expect(detectLanguage(text)).toBe(language);
});
