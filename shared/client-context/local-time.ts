import type { Turn } from '../conversation/documents/turn.ts';

/** One minute. */
const MINUTE_MS = 60_000;

/**
 * When a turn began by the user's clock, as the UTC fields of a date: the day that "tomorrow" counts from. By UTC
 * where no time zone was told.
 */
export const userTime = ({ createTime, told }: Pick<Turn, 'createTime' | 'told'>): Date =>
  inUserZone(createTime, told);

/** The same for the end of a turn: what waits for an app may be answered days later. */
export const answerTime = (turn: Pick<Turn, 'createTime' | 'finishTime' | 'told'>): Date =>
  inUserZone(turn.finishTime ?? turn.createTime, turn.told);

const inUserZone = (time: Date, told: Turn['told']): Date =>
  told?.offsetMinutes === undefined
    ? time
    : new Date(time.getTime() + told.offsetMinutes * MINUTE_MS);

/** The day of a moment in UTC, `2026-11-21`. */
export const toDayKey = (at: Date): string => at.toISOString().slice(0, 10);

/** ICU says `GMT+09:00`, and `GMT` for none. */
const offsetPattern = /^GMT(?:([+-])(\d\d):(\d\d)(?::\d\d)?)?$/;

function minutesOf(offset: string): number {
  const [, sign, hours, minutes] = offsetPattern.exec(offset) ?? [];
  const total = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -total : total;
}

interface LocalTime {
  text: string;
  /** East of Greenwich is positive. */
  offsetMinutes: number;
}

function zoneText(timeZone: string, offset: string): string {
  if (/^[+-]/.test(timeZone)) return offset.replace('GMT', 'UTC');
  // By the name that the app uses: ICU still says Katmandu.
  return timeZone === 'UTC' ? 'UTC' : `${timeZone}, ${offset.replace('GMT', 'UTC')}`;
}

const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

/** Without `Intl`, for whose data a first message would wait. */
function utcText(moment: Date): string {
  const [weekday, month] = [WEEKDAYS[moment.getUTCDay()], MONTHS[moment.getUTCMonth()]];
  const day = `${weekday}, ${moment.getUTCDate()} ${month} ${moment.getUTCFullYear()}`;
  return `${day}, ${moment.toISOString().slice(-13, -8)} (UTC; the user's zone is not known)`;
}

/** Formats that are kept: to make one takes longer than all else that a message asks of the clock. */
const FORMATS_KEPT = 50;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError for a zone that there is not. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  const [oldest] = formats.keys();
  if (formats.size >= FORMATS_KEPT && oldest !== undefined) formats.delete(oldest);
  formats.set(timeZone, made);
  return made;
}

/**
 * A moment as people of a time zone say it, to the minute, and absolute: `Sunday, 22 November 2026, 10:05 (Asia/Seoul,
 * UTC+09:00)`; without a zone in UTC, and so it says. Where clocks are set back an hour comes twice: the offset tells
 * which. Throws RangeError for a zone that there is not.
 */
export function localTime(moment: Date, timeZone: string | undefined): LocalTime {
  if (timeZone === undefined) return { text: utcText(moment), offsetMinutes: 0 };
  const spoken = formatOf(timeZone).formatToParts(moment);
  const parts = new Map(spoken.map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? '';
  const day = `${part('weekday')}, ${part('day')} ${part('month')} ${part('year')}`;
  const offset = part('timeZoneName');
  const zone = zoneText(timeZone, offset);
  const text = `${day}, ${part('hour')}:${part('minute')} (${zone})`;
  return { text, offsetMinutes: minutesOf(offset) };
}
