import { dayKey, type CalendarDay } from './calendar-day.ts';
import { findAll, wholeMatch, type Finder, type FactMatch } from '../index/fact-match.ts';
import { monthNames, monthNumber } from '../languages/month-names.ts';
import { holdsSign, signs } from '../index/signs.ts';

const iso = /(?<![\w-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|[-/]\d)/g;
const yearLast = /(?<![\w/-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d|[-/]\d)/g;
const twoParts = /(?<![\w/.,:-])(\d{1,2})\/(\d{1,2})(?![\w/%]|[.,]\d)/g;
const monthFirst = new RegExp(
  String.raw`(?<![\p{L}\d])(${monthNames})\.?,?\s{1,2}(\d{1,2})(?:st|nd|rd|th)?(?![\d:]|[.,]\d)(?:,?\s{1,2}(?:of\s)?((?:1[89]|20)\d{2})(?!\d))?`,
  'giu',
);
const dayFirst = new RegExp(
  String.raw`(?<![\d.,:/-])(\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?\s{0,2}(?:of\s|de\s|di\s|-)?(${monthNames})(?![\p{L}])\.?(?:,?\s{1,2}(?:of\s|de\s|del\s|di\s)?((?:1[89]|20)\d{2})(?!\d)|-(\d{4})(?!\d))?`,
  'giu',
);
const monthAndYear = new RegExp(
  String.raw`(?<![\p{L}\d])(${monthNames})\.?,?\s{1,2}(?:of\s|de\s|del\s|di\s)?((?:1[89]|20)\d{2})(?![\d-])`,
  'giu',
);
const eastern =
  /(?<!\d)(?:(\d{4}|\d{2})\s?[年년]\s?)?(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日号號일])?/gu;
const easternDay = /(?<!\d)(\d{1,2})\s?[日号號일](?![\p{sc=Hangul}\d]|间|間|程|子|本)/gu;
const ordinalDay =
  /(?<![\w.-])(?:the\s|on\s)(\d{1,2})(?:st|nd|rd|th)(?=\s+of\s+(?:this|next|the|last)\s+month|\s*[.,!?;)]|\s*$|\s+(?:at|and|or|to|until|please|instead|in\s+the\s+(?:morning|evening|afternoon)))/gimu;
const bareOrdinalOfMonth =
  /(?<![\w.-])(\d{1,2})(?:st|nd|rd|th)\s+of\s+(?:this|next|last)\s+month/giu;

const numberOf = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits);

function dateFound(match: RegExpExecArray, days: readonly CalendarDay[]): FactMatch | undefined {
  const readings = days.map(dayKey).filter((key) => key !== undefined);
  return readings.length === 0 ? undefined : wholeMatch(match, 'date', [...new Set(readings)]);
}

/** Whether 5/8 is in May or in August is known to the speaker alone: both are kept. */
function bothOrders(match: RegExpExecArray, texts: readonly (string | undefined)[]) {
  const [first, second, year] = texts.map(numberOf);
  return dateFound(match, [
    { year, month: first, day: second },
    { year, month: second, day: first },
  ]);
}

/** What a pattern cannot do without. */
type Need = 'month' | 'ordinal' | 'join' | 'slash' | 'beyondAscii';

const month = new RegExp(monthNames, 'iu');
const ordinal = /\d(?:st|nd|rd|th)/i;

/** Whether a text has what a pattern needs: most have not, and are not searched for it. */
const needsIn = (text: string): Readonly<Record<Need, boolean>> => ({
  month: month.test(text),
  ordinal: ordinal.test(text),
  join: holdsSign(text, signs.join | signs.slash),
  slash: holdsSign(text, signs.slash),
  beyondAscii: holdsSign(text, signs.beyondAscii),
});

/** Months without a day are too common as words ("may", "march") to count without a year. */
const patterns: readonly [
  pattern: RegExp,
  need: Need,
  read: (match: RegExpExecArray) => FactMatch | undefined,
][] = [
  [
    iso,
    'join',
    (match) =>
      dateFound(match, [
        { year: Number(match[1]), month: Number(match[3]), day: Number(match[4]) },
      ]),
  ],
  [yearLast, 'join', (match) => bothOrders(match, [match[1], match[3], match[4]])],
  [
    monthFirst,
    'month',
    (match) =>
      dateFound(match, [
        { month: monthNumber(match[1] ?? ''), day: Number(match[2]), year: numberOf(match[3]) },
      ]),
  ],
  [
    dayFirst,
    'month',
    (match) =>
      dateFound(match, [
        {
          day: Number(match[1]),
          month: monthNumber(match[2] ?? ''),
          year: numberOf(match[3] ?? match[4]),
        },
      ]),
  ],
  [
    monthAndYear,
    'month',
    (match) => dateFound(match, [{ month: monthNumber(match[1] ?? ''), year: Number(match[2]) }]),
  ],
  [
    eastern,
    'beyondAscii',
    (match) => {
      const day = numberOf(match[3]);
      const year = numberOf(match[1]);
      // 3월 alone is a month, which is as vague as a month's name.
      if (day === undefined && year === undefined) return undefined;
      return dateFound(match, [{ year, month: Number(match[2]), day }]);
    },
  ],
  [twoParts, 'slash', (match) => bothOrders(match, [match[1], match[2], undefined])],
  [bareOrdinalOfMonth, 'ordinal', (match) => dateFound(match, [{ day: Number(match[1]) }])],
  [ordinalDay, 'ordinal', (match) => dateFound(match, [{ day: Number(match[1]) }])],
  [easternDay, 'beyondAscii', (match) => dateFound(match, [{ day: Number(match[1]) }])],
];

/** Where a month stands with its day, nothing else looks like that. */
const withMonth: readonly RegExp[] = [iso, monthFirst, dayFirst, eastern];

/** A day beside its month that no calendar has, as written: `0 July`, `July 45`, `2023-13-05`, `3月0日`. */
export const findImpossibleDates: Finder = (text) =>
  /\d/.test(text)
    ? patterns
        .filter(([pattern]) => withMonth.includes(pattern))
        .flatMap(([pattern, , read]) =>
          findAll(text, pattern, (match) => {
            const isMonthAlone = pattern === eastern && match[3] === undefined;
            if (isMonthAlone || read(match) !== undefined) return undefined;
            return wholeMatch(match, 'date', [match[0]]);
          }),
        )
    : [];

function findNeeded(text: string): FactMatch[] {
  const needs = needsIn(text);
  const all: FactMatch[] = [];
  for (const [pattern, need, read] of patterns)
    if (needs[need]) for (const found of findAll(text, pattern, read)) all.push(found);
  return all;
}

/**
 * Days and months of the calendar in European and East Asian notations. 5/8 has two readings.
 * Heuristic: a fraction such as 1/2 counts as a date, and is equal to itself as well.
 */
export const findDates: Finder = (text) => (/\d/.test(text) ? findNeeded(text) : []);
