import { toDayKey, daysAfter } from './calendar-day.ts';
import { findAll, wholeMatch, type FactMatch } from '../index/fact-match.ts';
import { isAscii } from '#shared/text/plain-text.ts';

const dayOffsets: readonly (readonly [days: number, words: string])[] = [
  [
    -2,
    'day before yesterday|vorgestern|avant-hier|anteayer|그저께|그제|엊그제|一昨日|おととい|前天',
  ],
  [
    -1,
    'yesterday|last night|gestern|hier soir|ayer|ontem|ieri|어제|어젯밤|昨日|昨夜|きのう|昨天|昨晚',
  ],
  [
    0,
    "today|tonight|this morning|this afternoon|this evening|heute|aujourd'hui|hoy|hoje|oggi|오늘|今日|本日|今夜|今天|今晚",
  ],
  [1, 'tomorrow|morgen|demain|mañana|amanhã|domani|내일|明日|あした|明天|明晚'],
  [2, 'day after tomorrow|übermorgen|après-demain|pasado mañana|모레|明後日|あさって|后天|後天'],
];
const offsetByWord: ReadonlyMap<string, number> = new Map(
  dayOffsets.flatMap(([days, words]) =>
    words.split('|').map((word): [string, number] => [word, days]),
  ),
);
const latinOrEdge = String.raw`(?<![\p{sc=Latin}\d])`;
const words = [...offsetByWord.keys()].toSorted((a, b) => b.length - a.length).join('|');
const dayWord = new RegExp(`${latinOrEdge}(${words})(?![\\p{sc=Latin}\\d])`, 'giu');

const weekdayRows = [
  'sunday|sun|sonntag|dimanche|domingo|domenica|일요일|日曜日?|星期[日天]|周[日天]|礼拜天',
  'monday|mon|montag|lundi|lunes|segunda-feira|lunedì|월요일|月曜日?|星期一|周一',
  'tuesday|tue|tues|dienstag|mardi|martes|terça-feira|martedì|화요일|火曜日?|星期二|周二',
  'wednesday|wed|mittwoch|mercredi|miércoles|quarta-feira|mercoledì|수요일|水曜日?|星期三|周三',
  'thursday|thu|thurs|donnerstag|jeudi|jueves|quinta-feira|giovedì|목요일|木曜日?|星期四|周四',
  'friday|fri|freitag|vendredi|viernes|sexta-feira|venerdì|금요일|金曜日?|星期五|周五',
  'saturday|sat|samstag|samedi|sábado|sabato|토요일|土曜日?|星期六|周六',
] as const;
const weekdays = weekdayRows.map((row) => new RegExp(`^(?:${row})$`, 'iu'));
const next = String.raw`next|this|coming|this coming|nächste[nrs]?|kommende[nrs]?|diese[nrs]?|on|am|다음\s?주|이번\s?주|来週の?|今週の?|下周|下個|这周|本周|下`;
const last = String.raw`last|letzte[nrs]?|vorige[nrs]?|지난\s?주|先週の?|上周|上`;
const weekday = new RegExp(
  String.raw`${latinOrEdge}(?:(${last})\s?|(${next})\s?)?(${weekdayRows.join('|')})(?![\p{sc=Latin}\d])(?:\s(?:next|this|last)\sweek\b)?`,
  'giu',
);
const ago =
  /(?<![\p{L}\d.])(\d{1,3}|an?|one|two|three|four|five|six|seven|ten)\s(day|week|month|year)s?\sago\b|\bin\s(\d{1,3}|an?|one|two|three|four|five|six)\s(day|week|month|year)s?\b(?!\sof)/giu;
const period =
  /(?<![\p{L}])(last|this|next)\s(week|weekend|month|year)\b|(지난|이번|다음)\s?(주말?|달)|(작년|올해|내년)|(先|今|来)(週末?|月|年)|(去|今|明)年|(上|这|下)个?(月)/giu;

/** A day can be named by its weekday alone: short names are words of their own (sun, sat, wed). */
const shortName = /^(?:sun|mon|tues?|wed|thu|thurs|fri|sat)$/i;

function readWeekday(match: RegExpExecArray, at: Date | undefined): FactMatch | undefined {
  const [written, isLast, isNext, name = ''] = match;
  if (isLast === undefined && isNext === undefined && shortName.test(name)) return undefined;
  const wanted = weekdays.findIndex((pattern) => pattern.test(name));
  const readings = [`weekday:${wanted}`];
  if (at !== undefined && wanted !== -1) {
    const ahead = (wanted - at.getUTCDay() + 7) % 7;
    const offsets = isLast === undefined ? [ahead, ahead + 7] : [ahead - 7, ahead - 14];
    for (const days of offsets) readings.push(toDayKey(daysAfter(at, days)));
  }
  const found = wholeMatch(match, 'date', readings);
  return { ...found, start: found.end - written.trimStart().length, isWeak: isLast !== undefined };
}

const unitDays: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30.44, year: 365.25 };
const smallWords = 'zero one two three four five six seven eight nine ten'.split(' ');

function countOf(written: string): number {
  if (/^an?$/i.test(written)) return 1;
  const spelled = smallWords.indexOf(written.toLowerCase());
  return spelled === -1 ? Number(written) : spelled;
}

/** "3 weeks ago" is a day; "3 years ago" is a year, "3 months ago" a month. */
function readAgo(match: RegExpExecArray, at: Date | undefined): FactMatch | undefined {
  const isPast = match[1] !== undefined;
  const unit = (match[2] ?? match[4] ?? '').toLowerCase();
  const count = countOf(match[1] ?? match[3] ?? '') * (isPast ? -1 : 1);
  const readings = [`${count} ${unit}`];
  if (at !== undefined) {
    const day = toDayKey(daysAfter(at, Math.round(count * (unitDays[unit] ?? 1))));
    if (unit === 'month') readings.push(day.slice(0, 7));
    else if (unit === 'year') readings.push(`year:${day.slice(0, 4)}`);
    else readings.push(day);
  }
  return { ...wholeMatch(match, 'date', readings), isWeak: true };
}

const directions: Readonly<Record<string, number>> = {
  last: -1,
  this: 0,
  next: 1,
  지난: -1,
  이번: 0,
  다음: 1,
  작년: -1,
  올해: 0,
  내년: 1,
  先: -1,
  今: 0,
  来: 1,
  去: -1,
  明: 1,
  上: -1,
  这: 0,
  下: 1,
};

function readPeriod(match: RegExpExecArray, at: Date | undefined): FactMatch | undefined {
  const groups = match.slice(1).filter((group) => group !== undefined);
  const direction = directions[(groups[0] ?? '').toLowerCase()] ?? 0;
  const unit = (groups[1] ?? match[0]).toLowerCase();
  const readings = [`period:${match[0].toLowerCase().replaceAll(/\s/g, '')}`];
  if (at !== undefined) {
    const month = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + direction, 1));
    if (/month|달|月/.test(unit)) readings.push(toDayKey(month).slice(0, 7));
    else if (/year|년|年|올해/.test(unit)) readings.push(`year:${at.getUTCFullYear() + direction}`);
    else {
      const monday = daysAfter(at, direction * 7 - ((at.getUTCDay() + 6) % 7));
      for (let day = 0; day < 7; day++) readings.push(toDayKey(daysAfter(monday, day)));
    }
  }
  return { ...wholeMatch(match, 'date', readings), isWeak: true };
}

function readDayWord(match: RegExpExecArray, at: Date | undefined): FactMatch {
  const days = offsetByWord.get((match[1] ?? '').toLowerCase()) ?? 0;
  const readings = [`day:${days}`];
  if (at !== undefined) readings.push(toDayKey(daysAfter(at, days)));
  return { ...wholeMatch(match, 'date', readings), isWeak: days <= 0 };
}

/** What stands in an expression that a text of plain characters can hold: it spares the expression. */
const plainWordsOf = (all: readonly string[]): RegExp =>
  new RegExp(all.filter((word) => isAscii(word)).join('|'), 'i');

const plainDayWords = plainWordsOf([...offsetByWord.keys()]);
const plainWeekdays = plainWordsOf(weekdayRows.flatMap((row) => row.split('|')));
/** What one of them needs at least: most texts are spared all four by it. */
const plainWords = new RegExp(
  `${plainDayWords.source}|${plainWeekdays.source}|day|week|month|year`,
  'i',
);
/** `3 weeks ago`, `in 3 weeks`. */
const plainCounts = /\s(?:day|week|month|year)s?\sago|in\s(?:\d|an?|one|two|three|four|five|six)/i;
const plainPeriods = /(?:last|this|next)\s(?:week|month|year)/i;

/** A text, and whether it has plain characters alone. */
interface PlainOrNot {
  text: string;
  isPlain: boolean;
}

/** What a finder finds, where a text may hold it. */
function findWhere(
  { text, isPlain }: PlainOrNot,
  { sign, pattern }: { sign: RegExp; pattern: RegExp },
  read: (match: RegExpExecArray) => FactMatch | undefined,
): FactMatch[] {
  return isPlain && !sign.test(text) ? [] : findAll(text, pattern, read);
}

/**
 * Days and periods that are told from the day on which they are said: tomorrow, next Friday, last week,
 * 3 days ago. With `at` they are equal to the dates that they mean. Weak where they look back.
 * Heuristic: the day is that of UTC; months and years from a count are of average length.
 */
export function findRelativeDates(text: string, at?: Date): FactMatch[] {
  const isPlain = isAscii(text);
  return isPlain && !plainWords.test(text) ? [] : findAllRelative({ text, isPlain }, at);
}

const findAllRelative = (text: PlainOrNot, at: Date | undefined): FactMatch[] => [
  ...findWhere(text, { sign: plainDayWords, pattern: dayWord }, (match) => readDayWord(match, at)),
  ...findWhere(text, { sign: plainWeekdays, pattern: weekday }, (match) => readWeekday(match, at)),
  ...findWhere(text, { sign: plainCounts, pattern: ago }, (match) => readAgo(match, at)),
  ...findWhere(text, { sign: plainPeriods, pattern: period }, (match) => readPeriod(match, at)),
];
