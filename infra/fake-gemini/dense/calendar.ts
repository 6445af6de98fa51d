const dayMs = 86_400_000;

const at = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** `addDays('2023-05-08', -1)` → `2023-05-07`. */
export const addDays = (day: string, days: number): string => iso(at(day) + days * dayMs);

/** The month, `months` later: `addMonths('2023-12-08', 1)` → `2024-01`. */
export function addMonths(day: string, months: number): string {
  const date = new Date(at(day));
  return iso(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1)).slice(0, 7);
}

/** The year, `years` later. */
export const addYears = (day: string, years: number): string =>
  String(Number(day.slice(0, 4)) + years);

/** 0: Sunday. */
const weekdayAt = (day: string): number => new Date(at(day)).getUTCDay();

/** The last such weekday before the day; 0: Sunday. */
export const weekdayBefore = (day: string, weekday: number): string =>
  addDays(day, -(((weekdayAt(day) - weekday + 6) % 7) + 1));

/** The first such weekday behind the day; 0: Sunday. */
export const weekdayBehind = (day: string, weekday: number): string =>
  addDays(day, ((weekday - weekdayAt(day) + 6) % 7) + 1);

/** Such a weekday of the week that begins on a Monday, so many weeks later; 0: Sunday. */
export const weekdayInWeek = (day: string, weekday: number, weeks: number): string =>
  addDays(day, 7 * weeks - ((weekdayAt(day) + 6) % 7) + ((weekday + 6) % 7));
/**
 * What says a date, and the date by the day on which it is said and the first group of the pattern; undefined where
 * that has no one meaning. The pattern has one group at most.
 */
export type DateRule = readonly [
  pattern: RegExp,
  date: (day: string, group: string) => string | undefined,
];
