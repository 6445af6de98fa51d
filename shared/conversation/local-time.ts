import type { Turn } from '#shared/conversation/documents/turn.ts';

/** Offsets of time zones are told in minutes. */
const MINUTE_MS = 60_000;

/**
 * When a turn began by the user's clock, as the UTC fields of a date: the day that "tomorrow" counts from. By UTC
 * where no time zone was named.
 */
export const userTime = ({
  createTime,
  describedClient,
}: Pick<Turn, 'createTime' | 'describedClient'>): Date =>
  new Date(createTime.getTime() + (describedClient?.offsetMinutes ?? 0) * MINUTE_MS);

/** The same for the end of a turn: what waits for an app may be answered days later. */
export const answerTime = (
  turn: Pick<Turn, 'createTime' | 'finishTime' | 'describedClient'>,
): Date => userTime({ ...turn, createTime: turn.finishTime ?? turn.createTime });

/** A moment that is not known: the history was kept without times. */
export const unknownTime = new Date(Number.NaN);

/** The day of a moment in UTC, `2026-11-21`; undefined for one that is not known. */
export const toDayKey = (at: Date): string | undefined =>
  Number.isNaN(at.getTime()) ? undefined : at.toISOString().slice(0, 10);

/** ICU says `GMT+09:00`, and `GMT` for none. */
const offsetPattern = /^GMT(?:([+-])(\d\d):(\d\d)(?::\d\d)?)?$/;

function minutesOf(offset: string): number {
  const [, sign, hours = '0', minutes = '0'] = offsetPattern.exec(offset) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
}

/** By the name that the app uses: ICU still says Katmandu. */
function zoneText(timeZone: string | undefined, offset: string): string {
  if (timeZone === undefined) return "UTC; the user's zone is not known";
  if (/^[+-]/.test(timeZone)) return offset.replace('GMT', 'UTC');
  return timeZone === 'UTC' ? 'UTC' : `${timeZone}, ${offset.replace('GMT', 'UTC')}`;
}

/** Formats that are kept: to make one takes longer than all else that a message asks of the clock. */
const FORMATS_KEPT = 50;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
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
  if (formats.size >= FORMATS_KEPT) formats.clear();
  formats.set(timeZone, format);
  return format;
}

/**
 * A moment as people of a time zone say it, to the minute, and absolute: `Sunday, 22 November 2026, 10:05 (Asia/Seoul,
 * UTC+09:00)`; without a zone in UTC, and so it says. Where clocks are set back an hour comes twice: the offset, in
 * minutes east of Greenwich, tells which. Throws RangeError for a zone that there is not.
 */
export function localTime(
  moment: Date,
  timeZone: string | undefined,
): { text: string; offsetMinutes: number } {
  const parts = formatFor(timeZone ?? 'UTC').formatToParts(moment);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    parts.find((each) => each.type === type)?.value ?? '';
  const day = `${part('weekday')}, ${part('day')} ${part('month')} ${part('year')}`;
  const offset = part('timeZoneName');
  const text = `${day}, ${part('hour')}:${part('minute')} (${zoneText(timeZone, offset)})`;
  return { text, offsetMinutes: minutesOf(offset) };
}
