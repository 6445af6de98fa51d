/** What was said on a day that the message names counts so many times. Chosen on LoCoMo (docs/guides/recall.md). */
const DAY_WEIGHT = 2;

const DAY_MS = 24 * 60 * 60 * 1_000;

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

/** Whether 5/8 is in May or in August is known to the speaker alone: both are looked for. */
function* inEitherOrder(one = '', other = '', yearDigits = ''): Generator<NamedDay> {
  const year = yearIn(yearDigits);
  yield { year, month: Number(one), day: Number(other) };
  yield { year, month: Number(other), day: Number(one) };
}

function* daysInFigures(message: string): Generator<NamedDay> {
  for (const [, year, , month, day] of message.matchAll(isoDay))
    yield { year: numberIn(year), month: numberIn(month), day: numberIn(day) };
  for (const [, one, , other, year] of message.matchAll(dayWithYear))
    yield* inEitherOrder(one, other, year);
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
  for (const [, name = ''] of message.matchAll(monthAlone))
    if (!shortMonth.test(name)) yield { month: monthNumber(name) };
  for (const [, year] of message.matchAll(yearAlone)) yield { year: numberIn(year) };
}

const easternDate =
  /(?<!\d)(?:(\d{4}|\d{2})\s?[年년]\s?)?(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日号號일])?/gu;
const easternYear = /(?<!\d)((?:19|20)\d\d)\s?[年년](?!\s?\d)/gu;

function* easternDays(message: string): Generator<NamedDay> {
  for (const [, year, month, day] of message.matchAll(easternDate))
    if (year !== undefined || day !== undefined)
      yield { year: yearIn(year), month: numberIn(month), day: numberIn(day) };
  for (const [, year] of message.matchAll(easternYear)) yield { year: numberIn(year) };
}

const keyOf = ({ year, month, day }: NamedDay): string => [year, month, day].join('-');

/** All keys under which somebody may name the day of a time. */
function keysOfTime(at: Date): string[] {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()];
  return [{ year, month, day }, { year, month }, { year }, { month, day }, { month }].map(keyOf);
}

/**
 * How much more what was said at a time counts for a message that names days, months or years ("in May", "2026-05-03");
 * undefined where it names none. Heuristic: days are those of UTC.
 */
export function dayWeights(message: string): ((at: Date) => number) | undefined {
  const keys = new Set(
    [...daysInFigures(message), ...daysInWords(message), ...easternDays(message)].map(keyOf),
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
