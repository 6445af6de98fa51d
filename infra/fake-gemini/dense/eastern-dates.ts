import { addDays, addMonths, addYears, type DateRule, weekdayInWeek } from './calendar.ts';

/** The words that a language has for what stands in all three of them. */
interface Words {
  days: readonly (readonly [source: string, days: number])[];
  weeks: readonly (readonly [source: string, weeks: number])[];
  months: readonly (readonly [source: string, months: number])[];
  years: readonly (readonly [source: string, years: number])[];
  /** A weekday behind a word for its week, as one group. Sunday first. */
  weekday: { source: string; names: string };
  /** Behind a number that is one group. */
  ago: { days: string; weeks: string };
  ahead: { days: string; weeks: string };
  /** `2023-05-25` → a week around it. */
  weekOf: (day: string, weeks: number) => string;
  month: (month: string) => string;
  year: (year: string) => string;
}

const global = (source: string): RegExp => new RegExp(source, 'gu');

function rulesOf(words: Words): DateRule[] {
  const { weekday, ago, ahead } = words;
  const shift =
    (days: number): DateRule[1] =>
    (day, count) =>
      addDays(day, days * Number(count));
  const number = '(\\d{1,3})';
  return [
    ...words.weeks.map(([source, weeks]): DateRule => [
      global(`(?:${source})${weekday.source}`),
      (day, name) => weekdayInWeek(day, weekday.names.indexOf(name) % 7, weeks),
    ]),
    ...words.weeks.map(([source, weeks]): DateRule => [
      global(source),
      (day) => words.weekOf(day, weeks),
    ]),
    ...words.days.map(([source, days]): DateRule => [global(source), (day) => addDays(day, days)]),
    ...words.months.map(([source, months]): DateRule => [
      global(source),
      (day) => words.month(addMonths(day, months)),
    ]),
    ...words.years.map(([source, years]): DateRule => [
      global(source),
      (day) => words.year(addYears(day, years)),
    ]),
    [global(`${number}\\s?(?:${ago.days})`), shift(-1)],
    [global(`${number}\\s?(?:${ago.weeks})`), shift(-7)],
    [global(`${number}\\s?(?:${ahead.days})`), shift(1)],
    [global(`${number}\\s?(?:${ahead.weeks})`), shift(7)],
  ];
}

const around = (before: string, same: string, behind: string) => (day: string, weeks: number) =>
  `${day}${[before, same, behind][weeks + 1] ?? same}`;

/** 今日 is left alone in Chinese: it stands in names rather than for a day. */
export const chineseDates: readonly DateRule[] = rulesOf({
  days: [
    ['前天(?!鹅)', -2],
    ['昨[天日]', -1],
    ['今天', 0],
    ['明[天日](?!香)', 1],
    ['[后後]天(?!的?[教养])', 2],
  ],
  weeks: [
    ['上个?(?:周|星期|礼拜)(?![年边围])', -1],
    ['[这本]个?(?:周|星期|礼拜)(?![年边围])', 0],
    ['下个?(?:周|星期|礼拜)(?![年边围])', 1],
  ],
  months: [
    ['上个?月', -1],
    ['[这本]个?月', 0],
    ['下个?月', 1],
  ],
  years: [
    ['去年', -1],
    ['今年', 0],
    ['明年', 1],
  ],
  weekday: { source: '([日天一二三四五六])(?![个月天])', names: '日一二三四五六天' },
  ago: { days: '天(?:以|之)?前', weeks: '(?:周|个?星期)(?:以|之)?前' },
  ahead: { days: '天(?:以|之)?后', weeks: '(?:周|个?星期)(?:以|之)?后' },
  weekOf: around('的前一周', '的那一周', '的后一周'),
  month: (month) => month,
  year: (year) => `${year}年`,
});

export const japaneseDates: readonly DateRule[] = rulesOf({
  days: [
    ['一昨日|おととい', -2],
    ['昨日|きのう', -1],
    ['今日(?!は[。！!、]?$|は！)', 0],
    ['明後日|あさって', 2],
    ['明日(?!香)', 1],
  ],
  weeks: [
    ['先週の?', -1],
    ['今週の?', 0],
    ['来週の?', 1],
  ],
  months: [
    ['先月', -1],
    ['今月', 0],
    ['来月', 1],
  ],
  years: [
    ['去年|昨年', -1],
    ['今年', 0],
    ['来年', 1],
  ],
  weekday: { source: '([日月火水木金土])曜日?', names: '日月火水木金土' },
  ago: { days: '日前', weeks: '週間前' },
  ahead: { days: '日後', weeks: '週間後' },
  weekOf: around('の前の週', 'の週', 'の次の週'),
  month: (month) => month,
  year: (year) => `${year}年`,
});

export const koreanDates: readonly DateRule[] = rulesOf({
  days: [
    ['(?<![\\p{L}])(?:그저께|그제)', -2],
    ['(?<![\\p{L}])어제', -1],
    ['(?<![\\p{L}])오늘', 0],
    ['(?<![\\p{L}])내일', 1],
    ['(?<![\\p{L}])모레', 2],
  ],
  weeks: [
    ['지난\\s?주\\s?', -1],
    ['이번\\s?주\\s?', 0],
    ['다음\\s?주\\s?', 1],
  ],
  months: [
    ['지난\\s?달', -1],
    ['이번\\s?달', 0],
    ['다음\\s?달', 1],
  ],
  years: [
    ['작년', -1],
    ['올해', 0],
    ['내년', 1],
  ],
  weekday: { source: '([일월화수목금토])요일', names: '일월화수목금토' },
  ago: { days: '일 전', weeks: '주 전' },
  ahead: { days: '일 (?:후|뒤)', weeks: '주 (?:후|뒤)' },
  weekOf: around(' 전주 ', ' 주 ', ' 다음 주 '),
  month: (month) => month,
  year: (year) => `${year}년`,
});
