/** A date as far as it was said. */
export interface CalendarDay {
  year?: number;
  month?: number;
  day?: number;
}

const padded = (value: number, length: number): string => String(value).padStart(length, '0');

/** `24` and `'24` are of this century up to 2069, as in POSIX. */
function fullYear(year: number): number {
  if (year >= 100) return year;
  return year < 70 ? 2_000 + year : 1_900 + year;
}

function isPossible({ year, month, day }: CalendarDay): boolean {
  if (year !== undefined && (year < 1_000 || year > 2_999)) return false;
  if (month !== undefined && (month < 1 || month > 12)) return false;
  return day === undefined || (day >= 1 && day <= 31);
}

/** `2026-11-21`, `--11-21` without a year, `2026-11` without a day; undefined for what is no date. */
export function dayKey(said: CalendarDay): string | undefined {
  const { month, day } = said;
  const year = said.year === undefined ? undefined : fullYear(said.year);
  if (!isPossible({ ...said, year })) return undefined;
  if (month === undefined) return day === undefined ? undefined : `---${padded(day, 2)}`;
  const monthText = padded(month, 2);
  if (day === undefined) return year === undefined ? undefined : `${padded(year, 4)}-${monthText}`;
  return `${year === undefined ? '-' : padded(year, 4)}-${monthText}-${padded(day, 2)}`;
}

/** One day. */
const DAY_MS = 24 * 60 * 60 * 1_000;

/** The day that was asked about last: neighbours in a conversation mostly share theirs. */
let newest = { day: Number.NaN, key: '' };

/** `2026-11-21` of a point in time, in UTC. */
export function toDayKey(at: Date): string {
  const day = Math.floor(at.getTime() / DAY_MS);
  if (day !== newest.day) newest = { day, key: at.toISOString().slice(0, 10) };
  return newest.key;
}

/** The day so many days after another, in UTC. */
export const daysAfter = (at: Date, days: number): Date => new Date(at.getTime() + days * DAY_MS);

/** The same keys with less in them: a full date is also its day of the year and its month. */
export function coarserKeys(key: string): string[] {
  const [, year, month, day] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(key) ?? [];
  if (day !== undefined) return [`--${month}-${day}`, `---${day}`, `${year}-${month}`];
  const [, yearlessDay] = /^--\d\d-(\d\d)$/.exec(key) ?? [];
  return yearlessDay === undefined ? [] : [`---${yearlessDay}`];
}
