/** What was said on a day that the message names counts so many times. Chosen on LoCoMo (docs/guides/recall.md). */
const DAY_WEIGHT = 2;

const DAY_MS = 24 * 60 * 60 * 1_000;
const WEEK_DAYS = 7;

/** A day, month or year as far as it was named; "5 March" is one of every year. Months count from 1. */
interface NamedDay {
  year?: number | undefined;
  month?: number | undefined;
  day?: number | undefined;
}

/** Names of the months in en, de, fr, es, pt, it; short forms included. */
const monthNames: readonly string[] = [
  'january jan januar jänner janvier janv enero ene janeiro gennaio gen',
  'february feb februar février févr fevrier febrero fevereiro fev febbraio',
  'march mar märz mrz mars marzo março marco',
  'april apr avril avr abril abr aprile',
  'may mai mayo maio maggio mag',
  'june jun juni juin junio junho giugno giu',
  'july jul juli juillet juil julio julho luglio lug',
  'august aug août aout agosto ago',
  'september sep sept septembre septiembre setiembre setembro settembre set',
  'october oct oktober okt octobre octubre outubro out ottobre ott',
  'november nov novembre noviembre novembro',
  'december dec dezember dez décembre decembre diciembre dic dezembro dicembre',
];
const monthByName: ReadonlyMap<string, number> = new Map(
  monthNames.flatMap((names, at) => names.split(' ').map((name) => [name, at + 1] as const)),
);
const monthNumber = (name = ''): number | undefined => monthByName.get(name.toLowerCase());

/** Short forms that are words: "a set of knives", "agua de mar". */
const shortMonth = /^(?:set|mar|mag|ago|gen|out|dic|dez|jan|jun|jul|abr|fev|giu|lug|ott|ene)$/iu;

/** Source of an expression that finds any of the words, the longest first. */
const anyOf = (words: Iterable<string>): string =>
  [...words].toSorted((one, other) => other.length - one.length).join('|');

const monthName = anyOf(monthByName.keys());
const numberIn = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits);

/** `24` and `'24` are of this century up to 2069, as in POSIX. */
function yearIn(digits: string | undefined): number | undefined {
  const year = numberIn(digits);
  if (year === undefined || year >= 100) return year;
  return year < 70 ? 2_000 + year : 1_900 + year;
}

const isoDay = /(?<![\w-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|[-/]\d)/g;
const dayWithYear = /(?<![\w/-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d|[-/]\d)/g;
const dayWithoutYear = /(?<![\w/.,:-])(\d{1,2})\/(\d{1,2})(?![\w/%]|[.,]\d)/g;

/** Whether 5/8 is in May or in August is known to the speaker alone: both are looked for. */
function* inEitherOrder(one = '', other = '', yearDigits?: string): Generator<NamedDay> {
  const year = yearIn(yearDigits);
  yield { year, month: Number(one), day: Number(other) };
  yield { year, month: Number(other), day: Number(one) };
}

function* daysInFigures(message: string): Generator<NamedDay> {
  for (const [, year, , month, day] of message.matchAll(isoDay))
    yield { year: numberIn(year), month: numberIn(month), day: numberIn(day) };
  for (const [, one, , other, year] of message.matchAll(dayWithYear))
    yield* inEitherOrder(one, other, year);
  for (const [, one, other] of message.matchAll(dayWithoutYear)) yield* inEitherOrder(one, other);
}

const monthThenDay = new RegExp(
  String.raw`(?<![\p{L}\d])(${monthName})\.?,?\s{1,2}(\d{1,2})(?:st|nd|rd|th)?(?![\d:]|[.,]\d)(?:,?\s{1,2}(?:of\s)?((?:1[89]|20)\d{2})(?!\d))?`,
  'giu',
);
const dayThenMonth = new RegExp(
  String.raw`(?<![\d.,:/-])(\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?\s{0,2}(?:of\s|de\s|di\s|-)?(${monthName})(?![\p{L}])\.?(?:,?\s{1,2}(?:of\s|de\s|del\s|di\s)?((?:1[89]|20)\d{2})(?!\d)|-(\d{4})(?!\d))?`,
  'giu',
);
const monthThenYear = new RegExp(
  String.raw`(?<![\p{L}\d])(${monthName})\.?,?\s{1,2}(?:of\s|de\s|del\s|di\s)?((?:1[89]|20)\d{2})(?![\d-])`,
  'giu',
);
const ordinalDay =
  /(?<![\w.-])(?:the\s|on\s)(\d{1,2})(?:st|nd|rd|th)(?=\s*[.,!?;)]|\s*$|\s+(?:at|and|or|to|until|please|instead|in\s+the\s+(?:morning|evening|afternoon)))/gimu;
const ordinalDayOfMonth = /(?<![\w.-])(\d{1,2})(?:st|nd|rd|th)\s+of\s+(?:the|this|last)\s+month/giu;

/** A word before a month or a year alone that says that it is one: "may" and "march" are words too. */
const timeWord =
  'in|since|during|of|by|until|last|this|early|late|mid|im|seit|letzten|en|de|em|desde|a|nel|di';
const monthAlone = new RegExp(
  String.raw`(?<!\p{L})(?:${timeWord})[ -](${monthName})(?![\p{L}\d])(?!\.?,?\s\d)`,
  'giu',
);
const yearAlone = new RegExp(String.raw`(?<!\p{L})(?:${timeWord})\s((?:19|20)\d\d)(?!\d)`, 'giu');

function* daysInWords(message: string): Generator<NamedDay> {
  for (const [, name, day, year] of message.matchAll(monthThenDay))
    yield { year: numberIn(year), month: monthNumber(name), day: numberIn(day) };
  for (const [, day, name, year, joinedYear] of message.matchAll(dayThenMonth))
    yield { year: numberIn(year ?? joinedYear), month: monthNumber(name), day: numberIn(day) };
  for (const [, name, year] of message.matchAll(monthThenYear))
    yield { year: numberIn(year), month: monthNumber(name) };
  for (const pattern of [ordinalDay, ordinalDayOfMonth])
    for (const [, day] of message.matchAll(pattern)) yield { day: numberIn(day) };
  for (const [, name = ''] of message.matchAll(monthAlone))
    if (!shortMonth.test(name)) yield { month: monthNumber(name) };
  for (const [, year] of message.matchAll(yearAlone)) yield { year: numberIn(year) };
}

const easternDate =
  /(?<!\d)(?:(\d{4}|\d{2})\s?[年년]\s?)?(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日号號일])?/gu;
/** Not of a year that stands before it, and with no day behind it. */
const easternMonth = /(?<![\d年년]|[年년]\s)(\d{1,2})\s?[月월](?!\s?\d)/gu;
const easternDay = /(?<!\d)(\d{1,2})\s?[日号號일](?![\p{sc=Hangul}\d]|间|間|程|子|本)/gu;
const easternYear = /(?<!\d)((?:19|20)\d\d)\s?[年년](?!\s?\d)/gu;

function* easternDays(message: string): Generator<NamedDay> {
  for (const [, year, month, day] of message.matchAll(easternDate))
    if (year !== undefined || day !== undefined)
      yield { year: yearIn(year), month: numberIn(month), day: numberIn(day) };
  for (const [, month] of message.matchAll(easternMonth)) yield { month: numberIn(month) };
  for (const [, day] of message.matchAll(easternDay)) yield { day: numberIn(day) };
  for (const [, year] of message.matchAll(easternYear)) yield { year: numberIn(year) };
}

const calendarDay = (at: Date): NamedDay => ({
  year: at.getUTCFullYear(),
  month: at.getUTCMonth() + 1,
  day: at.getUTCDate(),
});
const daysBefore = (now: Date, days: number): NamedDay =>
  calendarDay(new Date(now.getTime() - days * DAY_MS));

/** How many days ago, and the words that say so. */
const dayWords: readonly (readonly [daysAgo: number, words: string])[] = [
  [
    2,
    'day before yesterday|vorgestern|avant-hier|anteayer|그저께|그제|엊그제|一昨日|おととい|前天',
  ],
  [
    1,
    'yesterday|last night|gestern|hier soir|ayer|ontem|ieri|어제|어젯밤|昨日|昨夜|きのう|昨天|昨晚',
  ],
  [
    0,
    "today|tonight|this morning|this afternoon|this evening|heute|aujourd'hui|hoy|hoje|oggi|오늘|今日|本日|今夜|今天|今晚",
  ],
];
const daysAgoByWord: ReadonlyMap<string, number> = new Map(
  dayWords.flatMap(([daysAgo, words]) => words.split('|').map((word) => [word, daysAgo] as const)),
);
/** Words of scripts without blanks have no edges. */
const wordStart = String.raw`(?<![\p{sc=Latin}\d])`;
const wordEnd = String.raw`(?![\p{sc=Latin}\d])`;
const dayWord = new RegExp(`${wordStart}(${anyOf(daysAgoByWord.keys())})${wordEnd}`, 'giu');

/** From Sunday on, as a `Date` counts them. */
const weekdayNames: readonly string[] = [
  'sunday|sun|sonntag|dimanche|domingo|domenica|일요일|日曜日?|星期[日天]|周[日天]|礼拜天',
  'monday|mon|montag|lundi|lunes|segunda-feira|lunedì|월요일|月曜日?|星期一|周一',
  'tuesday|tue|tues|dienstag|mardi|martes|terça-feira|martedì|화요일|火曜日?|星期二|周二',
  'wednesday|wed|mittwoch|mercredi|miércoles|quarta-feira|mercoledì|수요일|水曜日?|星期三|周三',
  'thursday|thu|thurs|donnerstag|jeudi|jueves|quinta-feira|giovedì|목요일|木曜日?|星期四|周四',
  'friday|fri|freitag|vendredi|viernes|sexta-feira|venerdì|금요일|金曜日?|星期五|周五',
  'saturday|sat|samstag|samedi|sábado|sabato|토요일|土曜日?|星期六|周六',
];
const weekdays = weekdayNames.map((names) => new RegExp(`^(?:${names})$`, 'iu'));
/** Short names are words of their own (sun, sat, wed) but after a word that makes them days. */
const shortWeekday = /^(?:sun|mon|tues?|wed|thu|thurs|fri|sat)$/i;
const lastWords = String.raw`last|letzte[nrs]?|vorige[nrs]?|지난\s?주|先週の?|上周|上`;
const weekday = new RegExp(
  String.raw`${wordStart}(?:(${lastWords})\s?|(this|diese[nrs]?|on|am)\s?)?(${weekdayNames.join('|')})${wordEnd}`,
  'giu',
);

/** "On Friday" is the one among the last seven days, and today where it is one; "last Friday" the one before, too. */
function* daysOfWeekday(match: RegExpMatchArray, now: Date): Generator<NamedDay> {
  const [, last, preposition, name = ''] = match;
  if (last === undefined && preposition === undefined && shortWeekday.test(name)) return;
  const wanted = weekdays.findIndex((pattern) => pattern.test(name));
  const daysAgo = (now.getUTCDay() - wanted + WEEK_DAYS) % WEEK_DAYS;
  yield daysBefore(now, daysAgo || WEEK_DAYS);
  if (last !== undefined) yield daysBefore(now, (daysAgo || WEEK_DAYS) + WEEK_DAYS);
  else if (daysAgo === 0) yield daysBefore(now, 0);
}

const numberWords = 'zero one two three four five six seven eight nine ten'.split(' ');
const ago = new RegExp(
  String.raw`(?<![\p{L}\d.])(\d{1,3}|an?|${numberWords.join('|')})\s(day|week|month|year)s?\sago\b`,
  'giu',
);
const unitDays: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30.44, year: 365.25 };

function countIn(text: string): number {
  if (/^an?$/i.test(text)) return 1;
  const count = numberWords.indexOf(text.toLowerCase());
  return count === -1 ? Number(text) : count;
}

/** "3 weeks ago" is a day; "3 years ago" is a year, "3 months ago" a month. */
function dayAgo(count: number, unit: string, now: Date): NamedDay {
  const { year, month, day } = daysBefore(now, Math.round(count * (unitDays[unit] ?? 1)));
  if (unit === 'year') return { year };
  return unit === 'month' ? { year, month } : { year, month, day };
}

const period =
  /(?<![\p{L}])(?:last|this)\s(?:week(?:end)?|month|year)\b|(?:지난|이번)\s?(?:주말?|달)|작년|올해|[先今](?:週末?|月|年)|去年|[上这]个?月/giu;
const lastPeriod = /^(?:last|지난|작년|[先去上])/i;

/** The days of a week from Monday on, a month or a year: this one, or the last. */
function* daysOfPeriod(words: string, now: Date): Generator<NamedDay> {
  const periodsAgo = lastPeriod.test(words) ? 1 : 0;
  if (/month|달|月/i.test(words)) {
    const first = calendarDay(
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - periodsAgo)),
    );
    yield { year: first.year, month: first.month };
  } else if (/year|년|年|올해/i.test(words)) yield { year: now.getUTCFullYear() - periodsAgo };
  else {
    const daysSinceMonday = (now.getUTCDay() + WEEK_DAYS - 1) % WEEK_DAYS;
    const monday = periodsAgo * WEEK_DAYS + daysSinceMonday;
    for (let day = 0; day < WEEK_DAYS; day++) yield daysBefore(now, monday - day);
  }
}

function* daysUntil(now: Date, message: string): Generator<NamedDay> {
  for (const [, word = ''] of message.matchAll(dayWord))
    yield daysBefore(now, daysAgoByWord.get(word.toLowerCase()) ?? 0);
  for (const match of message.matchAll(weekday)) yield* daysOfWeekday(match, now);
  for (const [, count = '', unit = ''] of message.matchAll(ago))
    yield dayAgo(countIn(count), unit.toLowerCase(), now);
  for (const [words] of message.matchAll(period)) yield* daysOfPeriod(words, now);
}

const keyOf = ({ year, month, day }: NamedDay): string => [year, month, day].join('-');

/** All keys under which somebody may name the day of a time. */
function keysOfTime(at: Date): string[] {
  const { year, month, day } = calendarDay(at);
  return [{ year, month, day }, { year, month }, { year }, { month, day }, { month }, { day }].map(
    keyOf,
  );
}

/**
 * How much more what was said at a time counts for a message that names days, months or years ("last week", "in May");
 * undefined where it names none. Relative ones are as seen from `now`, and without it none. Heuristic: days are those of UTC,
 * months and years from a count are of average length, and a fraction such as 1/2 counts as a date.
 */
export function dayWeights(message: string, now?: Date): ((at: Date) => number) | undefined {
  const keys = new Set(
    [
      ...daysInFigures(message),
      ...daysInWords(message),
      ...easternDays(message),
      ...(now ? daysUntil(now, message) : []),
    ].map(keyOf),
  );
  if (keys.size === 0) return undefined;
  const byDay = new Map<number, number>();
  return (at) => {
    const day = Math.floor(at.getTime() / DAY_MS);
    const known = byDay.get(day);
    if (known !== undefined) return known;
    const weight = keysOfTime(at).some((key) => keys.has(key)) ? DAY_WEIGHT : 1;
    byDay.set(day, weight);
    return weight;
  };
}
