/** ICU says `GMT+09:00`, and `GMT` for none. */
const offsetPattern = /^GMT(?:([+-])(\d\d):(\d\d)(?::\d\d)?)?$/;

function minutesOf(offset: string): number {
  const [, sign, hours, minutes] = offsetPattern.exec(offset) ?? [];
  const total = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -total : total;
}

export interface LocalTime {
  text: string;
  /** East of Greenwich is positive. */
  offsetMinutes: number;
}

/**
 * A moment as people of a time zone say it, to the minute, and absolute: `Sunday, 22 November 2026, 10:05 (Asia/Seoul,
 * UTC+09:00)`. Where clocks are set back an hour comes twice: the offset tells which. Throws RangeError for a zone
 * that there is not.
 */
export function localTime(moment: Date, timeZone = 'UTC'): LocalTime {
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
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? '';
  const day = `${part('weekday')}, ${part('day')} ${part('month')} ${part('year')}`;
  const offset = part('timeZoneName');
  // By the name that the app uses: ICU still says Katmandu.
  const zone = timeZone === 'UTC' ? 'UTC' : `${timeZone}, ${offset.replace('GMT', 'UTC')}`;
  const text = `${day}, ${part('hour')}:${part('minute')} (${zone})`;
  return { text, offsetMinutes: minutesOf(offset) };
}
