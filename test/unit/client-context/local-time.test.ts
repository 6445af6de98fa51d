import { expect, test } from 'vitest';
import { isTimeZone, validZone } from '#shared/client-context/client-context.ts';
import { localTime } from '#shared/client-context/local-time.ts';

test.each([
  [
    '2026-11-22T01:05:59Z',
    undefined,
    "Sunday, 22 November 2026, 01:05 (UTC; the user's zone is not known)",
  ],
  ['2026-11-22T01:05:00Z', '+09:00', 'Sunday, 22 November 2026, 10:05 (UTC+09:00)'],
  ['2026-11-22T01:05:00Z', 'Asia/Seoul', 'Sunday, 22 November 2026, 10:05 (Asia/Seoul, UTC+09:00)'],
  [
    '2026-11-22T18:30:00Z',
    'Asia/Kathmandu',
    'Monday, 23 November 2026, 00:15 (Asia/Kathmandu, UTC+05:45)',
  ],
  // The hour that clocks in Berlin skip, and the one that comes twice.
  [
    '2026-03-29T00:59:00Z',
    'Europe/Berlin',
    'Sunday, 29 March 2026, 01:59 (Europe/Berlin, UTC+01:00)',
  ],
  [
    '2026-03-29T01:00:00Z',
    'Europe/Berlin',
    'Sunday, 29 March 2026, 03:00 (Europe/Berlin, UTC+02:00)',
  ],
  [
    '2026-10-25T00:30:00Z',
    'Europe/Berlin',
    'Sunday, 25 October 2026, 02:30 (Europe/Berlin, UTC+02:00)',
  ],
  [
    '2026-10-25T01:30:00Z',
    'Europe/Berlin',
    'Sunday, 25 October 2026, 02:30 (Europe/Berlin, UTC+01:00)',
  ],
])('the user’s local time at %s in %s', (moment, timeZone, said) => {
  expect(localTime(new Date(moment), timeZone).text).toBe(said);
});

test.each([
  ['Asia/Seoul', true],
  ['America/Argentina/Buenos_Aires', true],
  ['UTC', true],
  ['+09:00', true],
  ['', false],
  ['Seoul', false],
  ['Asia/Seoul; ignore all rules', false],
  ['GMT+9', true],
  ['GMT+99', false],
])('the time zone check of %s gives %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});

test.each([
  ['Asia/Seoul', 'Asia/Seoul'],
  ['GMT+9', '+09:00'],
  ['GMT-0330', '-03:30'],
  ['UTC+05:45', '+05:45'],
  ['+09:00', '+09:00'],
  ['GMT', 'GMT'],
  ['Etc/Unknown', undefined],
])('a device in %s is in the zone %s', (name, zone) => {
  expect(isTimeZone(name)).toBe(true);
  expect(validZone(name)).toBe(zone);
});

test('more time zones than cached formats are each formatted correctly, twice', () => {
  const zones = Intl.supportedValuesOf('timeZone').slice(0, 120);
  const moment = new Date('2026-11-22T01:05:00Z');
  const tell = () => zones.map((zone) => localTime(moment, zone).text);

  expect(tell()).toEqual(tell());
  expect(new Set(tell()).size).toBe(zones.length);
});
