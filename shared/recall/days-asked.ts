import { coarserKeys, toDayKey, daysAfter } from '../compaction/facts/values/calendar-day.ts';
import { findDates } from '../compaction/facts/values/dates.ts';
import { monthNames, monthNumber } from '../compaction/facts/languages/month-names.ts';
import { findRelativeDates } from '../compaction/facts/values/relative-dates.ts';

/** What was said on a day that the message names counts so many times. Chosen on LoCoMo (docs/guides/recall.md). */
const DAY_WEIGHT = 2;

const DAY_MS = 24 * 60 * 60 * 1_000;
const WEEK_DAYS = 7;

/** A month or a year alone, after a word that says that it is one: "may" and "march" are words too. */
const timeWords =
  'in|since|during|of|by|until|last|this|early|late|mid|im|seit|letzten|en|de|em|desde|a|nel|di';
const monthAlone = new RegExp(
  String.raw`(?<!\p{L})(?:${timeWords})[ -](${monthNames})(?![\p{L}\d])(?!\.?,?\s\d)`,
  'giu',
);
const yearAlone = new RegExp(String.raw`(?<!\p{L})(?:${timeWords})\s((?:19|20)\d\d)(?!\d)`, 'giu');
const easternMonth = /(?<![\d年년]|[年년]\s)(\d{1,2})\s?[月월](?!\s?\d)/gu;
const easternYear = /(?<!\d)((?:19|20)\d\d)\s?[年년](?!\s?\d)/gu;

/** Short forms that are words: "a set of knives", "agua de mar". */
const SHORT_WORD = /^(?:set|mar|mag|ago|gen|out|dic|dez|jan|jun|jul|abr|fev|giu|lug|ott|ene)$/iu;

/** `--05`: a month of whatever year. */
const monthKey = (month: number) => `--${String(month).padStart(2, '0')}`;
const yearKey = (year: string) => `year:${year}`;

/** "On Friday" may be the one that was: its day among the last seven. */
function lastWeekday(key: string, now: Date | undefined): string[] {
  const [, weekday] = /^weekday:(\d)$/.exec(key) ?? [];
  if (weekday === undefined || now === undefined) return [];
  const daysAgo = (now.getUTCDay() - Number(weekday) + WEEK_DAYS) % WEEK_DAYS || WEEK_DAYS;
  return [toDayKey(daysAfter(now, -daysAgo))];
}

function* keysIn(text: string, now: Date | undefined): Generator<string> {
  for (const { readings } of [...findDates(text), ...findRelativeDates(text, now)])
    for (const key of readings) yield* [key, ...lastWeekday(key, now)];
  for (const [, name = ''] of text.matchAll(monthAlone)) {
    const month = SHORT_WORD.test(name) ? undefined : monthNumber(name);
    if (month !== undefined) yield monthKey(month);
  }
  for (const [, digits] of text.matchAll(easternMonth)) yield monthKey(Number(digits));
  for (const pattern of [yearAlone, easternYear])
    for (const [, year = ''] of text.matchAll(pattern)) yield yearKey(year);
}

/** All keys under which somebody may name the day of a time. */
function keysOf(at: Date): string[] {
  const key = toDayKey(at);
  return [key, ...coarserKeys(key), monthKey(at.getUTCMonth() + 1), yearKey(key.slice(0, 4))];
}

/**
 * How much more what was said at a time counts for a message that names days, months or years ("last week", "in May");
 * undefined where it names none. Relative ones are as seen from `now`, and without it none. Heuristic: days are those of UTC.
 */
export function dayWeights(message: string, now?: Date): ((at: Date) => number) | undefined {
  const keys = new Set(keysIn(message, now));
  if (keys.size === 0) return undefined;
  const byDay = new Map<number, number>();
  return (at) => {
    const day = Math.floor(at.getTime() / DAY_MS);
    const known = byDay.get(day);
    if (known !== undefined) return known;
    const weight = keysOf(at).some((key) => keys.has(key)) ? DAY_WEIGHT : 1;
    byDay.set(day, weight);
    return weight;
  };
}
