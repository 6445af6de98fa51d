import {
  addDays,
  addMonths,
  addYears,
  type DateRule,
  weekdayBefore,
  weekdayBehind,
} from './calendar.ts';

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const wochentage = 'sonntag montag dienstag mittwoch donnerstag freitag samstag'.split(' ');
const counts = new Map(
  'a|an|one two three four five six seven eight nine ten'
    .split(' ')
    .flatMap((words, index) => words.split('|').map((word) => [word, index + 1] as const)),
);
const zahlen = 'einem|einer|ein zwei drei vier fünf sechs sieben acht neun zehn'
  .split(' ')
  .flatMap((words, index) => words.split('|').map((word) => [word, index + 1] as const));
for (const [word, number] of zahlen) counts.set(word, number);

function readCount(text: string): number | undefined {
  const count = counts.get(text.toLowerCase()) ?? Number(text);
  return Number.isInteger(count) && count <= 400 ? count : undefined;
}

/** By a count that is told in words or figures. */
const counted =
  (date: (day: string, count: number) => string): DateRule[1] =>
  (day, group) => {
    const count = readCount(group);
    return count === undefined ? undefined : date(day, count);
  };

const weekday =
  (names: readonly string[], date: (day: string, index: number) => string): DateRule[1] =>
  (day, group) =>
    date(
      day,
      names.findIndex((name) => name.startsWith(group.toLowerCase().slice(0, 3))),
    );

/** In full or short: `Tues`. */
const weekdayName = `(${weekdays.join('|')}|sun|mon|tues?|wed|thu(?:rs?)?|fri|sat)`;
const saturday = 6;
const number = '(\\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)';
const zahl = '(\\d{1,3}|eine[mr]|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)';
const pattern = (source: string): RegExp => new RegExp(source, 'giu');

const dayOfMonth = '\\b(\\d{1,2})(?:st|nd|rd|th) of';
const inMonth =
  (months: number): DateRule[1] =>
  (day, group) =>
    Number(group) <= 31 ? `${addMonths(day, months)}-${group.padStart(2, '0')}` : undefined;

export const englishDates: readonly DateRule[] = [
  [pattern(`${dayOfMonth} last month\\b`), inMonth(-1)],
  [pattern(`${dayOfMonth} this month\\b`), inMonth(0)],
  [pattern(`${dayOfMonth} next month\\b`), inMonth(1)],
  [/\b(?:on )?the day before yesterday\b/giu, (day) => addDays(day, -2)],
  [/\b(?:on )?the day after tomorrow\b/giu, (day) => addDays(day, 2)],
  [
    /\byesterday (morning|afternoon|evening|night)\b/giu,
    (day, part) => `${addDays(day, -1)} ${part}`,
  ],
  [
    /\btomorrow (morning|afternoon|evening|night)\b/giu,
    (day, part) => `${addDays(day, 1)} ${part}`,
  ],
  [/\byesterday\b(?!['’]s)/giu, (day) => addDays(day, -1)],
  [/\btomorrow\b(?!['’]s)/giu, (day) => addDays(day, 1)],
  [/\btoday\b(?!['’]s)/giu, (day) => day],
  [/\blast night\b/giu, (day) => `night of ${addDays(day, -1)}`],
  [/\btonight\b/giu, (day) => `evening of ${day}`],
  [/\bthis (morning|afternoon|evening)\b/giu, (day, part) => `${part} of ${day}`],
  [pattern(`\\b(?:on )?(?:last|this past) ${weekdayName}\\b`), weekday(weekdays, weekdayBefore)],
  [pattern(`\\b(?:on )?next ${weekdayName}\\b`), weekday(weekdays, weekdayBehind)],
  [/\b(?:over |on )?last weekend\b/giu, (day) => `weekend before ${day}`],
  [/\b(?:over |on )?this past weekend\b/giu, (day) => `weekend before ${day}`],
  [/\bthis weekend\b/giu, (day) => `weekend of ${weekdayBehind(addDays(day, -1), saturday)}`],
  [/\blast week\b/giu, (day) => `week before ${day}`],
  [/\bnext week\b/giu, (day) => `week after ${day}`],
  [/\bthis week\b/giu, (day) => `week of ${day}`],
  [/\blast month\b/giu, (day) => addMonths(day, -1)],
  [/\bnext month\b/giu, (day) => addMonths(day, 1)],
  [/\bthis month\b/giu, (day) => addMonths(day, 0)],
  [/\blast year\b(?!['’]s)/giu, (day) => addYears(day, -1)],
  [/\bnext year\b(?!['’]s)/giu, (day) => addYears(day, 1)],
  [/\bthis year\b(?!['’]s)/giu, (day) => addYears(day, 0)],
  [pattern(`\\b${number} days? ago\\b`), counted((day, count) => addDays(day, -count))],
  [pattern(`\\b${number} weeks? ago\\b`), counted((day, count) => addDays(day, -7 * count))],
  [pattern(`\\b${number} months? ago\\b`), counted((day, count) => addMonths(day, -count))],
  [pattern(`\\b${number} years? ago\\b`), counted((day, count) => addYears(day, -count))],
  [
    pattern(`\\b${number} weekends ago\\b`),
    counted((day, count) => `${count} weekends before ${day}`),
  ],
  [/\b(?:a )?few (days|weeks) ago\b/giu, (day, unit) => `few ${unit} before ${day}`],
  [pattern(`\\bin ${number} days?\\b`), counted(addDays)],
  [pattern(`\\bin ${number} weeks?\\b`), counted((day, count) => addDays(day, 7 * count))],
  [pattern(`\\bin ${number} months?\\b`), counted(addMonths)],
];

export const germanDates: readonly DateRule[] = [
  [/\bvorgestern\b/giu, (day) => addDays(day, -2)],
  [/(?<![\p{L}])übermorgen\b/giu, (day) => addDays(day, 2)],
  [/\bgestern\b/giu, (day) => addDays(day, -1)],
  [/\bheute\b/giu, (day) => day],
  [/(?<!guten |gestern |heute |\d )\bmorgen\b/gu, (day) => addDays(day, 1)],
  [pattern(`\\b(?:am )?letzten (${wochentage.join('|')})\\b`), weekday(wochentage, weekdayBefore)],
  [pattern(`\\b(?:am )?nächsten (${wochentage.join('|')})\\b`), weekday(wochentage, weekdayBehind)],
  [/\bletztes Wochenende\b/giu, (day) => `am Wochenende vor dem ${day}`],
  [/\bletzte Woche\b/giu, (day) => `in der Woche vor dem ${day}`],
  [/\bnächste Woche\b/giu, (day) => `in der Woche nach dem ${day}`],
  [/\b(?:im )?letzten Monat\b/giu, (day) => `im Monat ${addMonths(day, -1)}`],
  [/\b(?:im )?nächsten Monat\b/giu, (day) => `im Monat ${addMonths(day, 1)}`],
  [/\b(?:im )?letzte[sn] Jahr\b/giu, (day) => addYears(day, -1)],
  [/\b(?:im )?nächste[sn] Jahr\b/giu, (day) => addYears(day, 1)],
  [/\b(?:in )?diese[sm] Jahr\b/giu, (day) => addYears(day, 0)],
  [pattern(`\\bvor ${zahl} Tag(?:en)?\\b`), counted((day, count) => addDays(day, -count))],
  [pattern(`\\bvor ${zahl} Wochen?\\b`), counted((day, count) => addDays(day, -7 * count))],
  [pattern(`\\bin ${zahl} Tag(?:en)?\\b`), counted(addDays)],
  [pattern(`\\bin ${zahl} Wochen?\\b`), counted((day, count) => addDays(day, 7 * count))],
];
