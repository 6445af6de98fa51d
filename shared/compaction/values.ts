import { once } from '#shared/lib/once.ts';
import { isAscii } from '#shared/text/plain-text.ts';

// Values of a text

/** Behind a value that nobody was found to have said; the prompt of the chat tells what it means. Nobody types it. */
export const UNSAID_MARK = '\u2047';

/**
 * What can be looked up without knowing a language: a link, a mail address, an identifier (letters and digits mixed), a
 * number of three digits and more, an amount beside a currency or a unit. Days, years and small numbers are none: a
 * summary may say them in other words than they were said in.
 */
export interface Value {
  /** Where it stands in its text, in UTF-16 units. */
  start: number;
  end: number;
  text: string;
  /** The forms in which it may have been said: one of them is enough. */
  readings: readonly string[];
  /** Of numbers with blanks between them: these, which may have been said one by one. */
  groups: readonly string[];
}

/** The values of a text, in the order of their places. Linear. */
export function findValues(text: string): Value[] {
  const values: Value[] = [];
  const runs = runsIn(text);
  let next = 0;
  /** The run that a stretch is a part of: its digits may have been said in other groups. */
  const runAt = (start: number, end: number): string[] => {
    while ((runs[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1;
    const run = runs[next];
    return run !== undefined && run.start <= start && run.end >= end ? [run.reading] : [];
  };
  const readAt = (start: number, written: string): ReadPart[] =>
    readWord(written, isAmount(text, start, start + written.length));
  for (const { start, written, parts } of findStretches(text, readAt))
    for (const { readings, groups } of parts) {
      const end = start + written.length;
      const ofRun = runAt(start, end);
      values.push({ start, end, text: written, readings: [...readings, ...ofRun], groups });
    }
  return values;
}

// Links, mail addresses and words

const link = /(?:https?:\/\/|www\.)[^\s<>"'`()[\]{}，。、；：！？「」『』（）]+/giu;

const linkEnd = /(?<![.,;:!?*_~…\u2047])[.,;:!?*_~…\u2047]+$/u;

/** A letter or digit of a script that puts blanks between words. */
const sign = String.raw`(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}ー])[\p{L}\p{M}\p{Nd}]`;

/** Words of scripts without blanks stand right before an address. It begins where a run of its signs does: else quadratic. */
const mailAddress = new RegExp(
  String.raw`(?<!${sign}|[._%+-])(?:${sign}|[._%+-])+@(?:${sign}|-)+(?:\.(?:${sign}|-)+)*\.(?:(?!\p{N})${sign}){2,}`,
  'gu',
);

const groupSign = String.raw`(?<=\p{Nd})[.,'’_\u066b\u066c](?=\p{Nd})`;

const groupBlank = String.raw`(?<=\p{Nd})[ \u00a0\u2009\u202f](?=\p{Nd}{3}(?!\p{Nd}))`;

/** Words joined by hyphens and points, numbers with their groups. */
const word = new RegExp(
  String.raw`${sign}(?:${sign}|${groupSign}|${groupBlank}|[-\u2010-\u2015\u2212_.](?=${sign}))*`,
  'gu',
);

/** A stretch of a text that is read as a whole: a link, a mail address, a word. */
interface Stretch {
  start: number;
  written: string;
  parts: readonly ReadPart[];
}

/** All stretches of a text that may say a value, in the order of their places. Linear. */
function* findStretches(
  text: string,
  readAt: (start: number, written: string) => ReadPart[],
): Generator<Stretch> {
  const addresses = findAddresses(text);
  let next = 0;
  let end = 0;
  for (const { index, 0: written } of text.matchAll(word)) {
    for (
      let address = addresses[next];
      address !== undefined && address.start <= index;
      address = addresses[++next]
    )
      if (address.start >= end) {
        yield address;
        end = address.start + address.written.length;
      }
    if (index >= end) yield { start: index, written, parts: readAt(index, written) };
  }
}

/** Links and mail addresses; nothing else is looked for within them. */
function findAddresses(text: string): Stretch[] {
  const links = [...text.matchAll(link)].map(({ index, 0: matched }): Stretch => {
    const written = matched.replace(linkEnd, '');
    return {
      start: index,
      written,
      parts: [{ readings: [linkReading(written)], groups: [] }],
    };
  });
  if (!text.includes('@')) return links;
  const mails = [...text.matchAll(mailAddress)].map(({ index, 0: matched }): Stretch => {
    const written = matched.replace(linkEnd, '');
    return {
      start: index,
      written,
      parts: [{ readings: [written.toLowerCase()], groups: [] }],
    };
  });
  return [...links, ...mails].toSorted((one, other) => one.start - other.start);
}

const linkReading = (text: string): string =>
  text
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/$/, '');

// What a word says

/** A part of a word between hyphens, as it is looked up; none where it is not. */
interface ReadPart {
  readings: readonly string[];
  groups: readonly string[];
}

/** Letters behind a number: `5km`, `3rd`, `1990s`; and one capital letter, as of a seat: `12B`. */
const quantity = /^(\d[\d.,']*)([\p{L}µ]{1,4})$/u;

const seat = /^\d{1,3}\p{Lu}$/u;

/** Characters of an identifier; `Q3` and `S14` number things. */
const IDENTIFIER_MIN = 4;

const mixed = /^(?=\D*\d)(?=\P{L}*\p{L})/u;

/** `QX-7719`, `SN-001-AB`: capital letters and digits belong together whatever joins them. */
const joinedCode =
  /^\p{Lu}+(?:-\p{Lu}+)*-\d{2,}(?:-\p{Lu}+)*$|^(?=\D*\d[^-]*-.*\d)(?=\P{L}*\p{L}\P{L}*\p{L})[\p{L}\d]+(?:-[\p{L}\d]+){2,}$/u;

function readWord(written: string, isBesideUnit: boolean): ReadPart[] {
  const text = plain(written);
  if (!/\d/.test(text)) return [];
  if (digitsAlone.test(text)) return readDigits(text, isBesideUnit);
  const parts = text.split(/-|_(?!\d{3})/);
  const last = parts.length - 1;
  const read = parts.flatMap((part, index) => readPart(part, isBesideUnit && index === last));
  return parts.length > 1 && joinedCode.test(text)
    ? [...read, { readings: [canonical(text)], groups: [] }]
    : read;
}

function readPart(part: string, isBesideUnit: boolean): ReadPart[] {
  if (digitsAlone.test(part)) return readDigits(part, isBesideUnit);
  if (!mixed.test(part)) return [];
  const [, digits, letters = ''] = seat.test(part) ? [] : (quantity.exec(part) ?? []);
  if (digits !== undefined) return readDigits(digits, isBesideUnit || isUnit(letters));
  return part.length < IDENTIFIER_MIN ? [] : [{ readings: [canonical(part)], groups: [] }];
}

function readDigits(text: string, isBesideUnit: boolean): ReadPart[] {
  return readNumbers(text).filter(
    (number) => isBesideUnit || (number.digits >= LONG_DIGITS && !isYear(number)),
  );
}

/** Numbers of fewer digits are counts, hours and days, which a summary may say in other words. */
const LONG_DIGITS = 3;

const canonical = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{Nd}]/gu, '');

const oneDigit = /^\p{Nd}$/u;

const foreignDigit = /(?![0-9])\p{Nd}/gu;

/** Compatible forms as one, digits of every script by their value, and one sign for each kind of separator. */
const plain = (text: string): string =>
  isAscii(text)
    ? text
    : text
        .normalize('NFKC')
        .replaceAll(foreignDigit, decimalValue)
        .replaceAll('\u066b', '.')
        .replaceAll('\u066c', ',')
        .replaceAll('’', "'")
        .replaceAll(/[\u2010-\u2015\u2212]/gu, '-')
        .replaceAll(/[ \u00a0\u2009\u202f]/gu, ' ');

/** The decimal value of a digit of any script: each has ten in a row. */
function decimalValue(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && oneDigit.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

// Numbers

/** A number as it may have been written. */
interface WrittenNumber {
  readings: string[];
  groups: string[];
  /** Digits before a decimal sign, or all where that is not sure. */
  digits: number;
}

const digitsAlone = /^[\d.,'_ ]+$/;

/** Groups of three, or as in India of two before the last, one separator; then perhaps decimals. */
const grouped = /^(\d{1,3})(?:([.,'_ ])(?:\d{2,3}\2)*\d{3})(?:[.,](\d+))?$/;

const decimal = /^(\d+)[.,](\d+)$/;

/** One separator of three digits, which may as well be a decimal sign: 1.250 is 1250 or 1.25. */
const thousandOrDecimal = /^([1-9]\d{0,2})[.,](\d{3})$/;

const ipAddress = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** What digits and separators say: one number, or, where they are no groups of one, each for itself. */
function readNumbers(text: string): WrittenNumber[] {
  if (!/\d/.test(text)) return [];
  if (/^\d+$/.test(text)) return [{ readings: [text], groups: [], digits: text.length }];
  const [, thousands, hundreds] = thousandOrDecimal.exec(text) ?? [];
  if (thousands !== undefined && hundreds !== undefined) {
    const readings = [`${thousands}${hundreds}`, withDecimals(thousands, hundreds)];
    return [{ readings, groups: [], digits: readings[0]?.length ?? 0 }];
  }
  const parts = /^0[.,]/.test(text) ? null : grouped.exec(text);
  if (parts !== null) {
    const decimals = parts[3] ?? '';
    const whole = digitsIn(decimals === '' ? text : text.slice(0, -decimals.length));
    const groups = parts[2] === ' ' ? text.split(/\D/) : [];
    return [{ readings: [withDecimals(whole, decimals)], groups, digits: whole.length }];
  }
  const [, whole, decimals] = decimal.exec(text) ?? [];
  if (whole !== undefined && decimals !== undefined) {
    // 7.30 and 10.04 may be a time and a day.
    const isLong = whole.length > 2 || decimals.length > 2;
    return [
      {
        readings: [withDecimals(whole, decimals)],
        groups: [],
        digits: isLong ? text.length - 1 : 2,
      },
    ];
  }
  if (ipAddress.test(text))
    return [{ readings: [text], groups: [], digits: digitsIn(text).length }];
  // "3.50 500" is an amount and a number, "48.85,2.35" two numbers, "10.04.2026" a list.
  const isOfDecimals = text.includes(',') && text.includes('.');
  const parting = isOfDecimals ? ',' : /\D/;
  return text.split(text.includes(' ') ? ' ' : parting).flatMap(readNumbers);
}

/** Without decimals that say nothing: 12.50 is 12.5, and 12.00 is 12. */
function withDecimals(whole: string, decimals: string): string {
  const telling = decimals.replace(/0+$/, '');
  return telling === '' ? whole : `${whole}.${telling}`;
}

const digitsIn = (text: string): string => text.replaceAll(/\D/g, '');

/** A number of four digits from here on is a year, which may be said in other words. */
const YEAR_MIN = 1_800;

/** The last one that is taken for a year. */
const YEAR_MAX = 2_100;

/** From the years of our era to those of Thailand's. */
const THAI_YEARS = 543;

const isYear = ({ readings: [reading = '', other], groups, digits }: WrittenNumber): boolean => {
  if (other !== undefined || groups.length > 0 || digits !== 4) return false;
  const year = Number(reading);
  return [year, year - THAI_YEARS].some((one) => one >= YEAR_MIN && one <= YEAR_MAX);
};

// Amounts

/** Symbols of units; they are the same in most languages. */
const units: ReadonlySet<string> = new Set(
  'µg mcg mg g kg t ml cl dl l mm cm m km ft mi lb lbs oz kwh kw w v hz khz mhz ghz kb mb gb tb px kcal mph kmh'.split(
    ' ',
  ),
);

const currencies = once(
  () => new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase())),
);

/** Codes of currencies stand in capitals: `cup`, `all` and `try` are words. */
const isUnit = (letters: string): boolean =>
  units.has(letters.toLowerCase()) ||
  (/^[A-Z]{3}$/.test(letters) && currencies().has(letters.toLowerCase()));

/** Currencies have signs, and words that are written as such. */
const signBehind = /^ ?(?:[\p{Sc}%‰°]|[円圓元원]|บาท|(?:zł|kč|kr|руб|грн|лв)(?![\p{L}\p{N}]))/iu;

/** With its power: `m²`. */
const wordBehind = /^ ?([\p{L}µ]{1,4})[²³]?(?![\p{L}\p{N}])/u;

const signBefore = /\p{Sc} ?$/u;

const codeBefore = /(?<![\p{L}\p{N}])([A-Z]{3}) ?$/u;

/** Whether a currency or a unit stands beside a stretch of a text. */
function isAmount(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 5), start);
  const behind = text.slice(end, end + 7);
  if (signBefore.test(before) || signBehind.test(behind)) return true;
  const code = codeBefore.exec(before)?.[1] ?? '';
  const letters = wordBehind.exec(behind)?.[1] ?? '';
  return currencies().has(code.toLowerCase()) || isUnit(letters);
}

// Long numbers in whatever groups

/** Digits of a phone number and the like. */
const RUN_DIGITS_MIN = 7;

/** More digits in a row are a table. */
const RUN_DIGITS_MAX = 34;

/** A number of so many digits that stands within a longer one, as a part of a phone number does, is said by it. */
const PART_DIGITS_MIN = 5;

/** Phone numbers and the like; before them the letters of an account: `DE89 3704 0044 0532 0130 00`. */
const digitRun =
  /(?:(?<![\p{L}\p{N}])\p{Lu}{2}(?=\p{Nd}{2}))?\p{Nd}(?:[ ()./-]{0,3}\p{Nd}){6,40}/gu;

/** What may be looked for within runs. */
const digitsOfRun = /^(?:[a-z]{2})?\d+$/;

/** Phone numbers and the like, without what parts their digits. */
interface Run {
  start: number;
  end: number;
  reading: string;
}

const runsIn = (text: string): Run[] =>
  [...text.matchAll(digitRun)]
    .map(({ index, 0: run }) => ({
      start: index,
      end: index + run.length,
      reading: canonical(plain(run)),
    }))
    .filter(({ reading: { length } }) => length >= RUN_DIGITS_MIN && length <= RUN_DIGITS_MAX);

// Where values were said

/** Where values were said. */
export interface ValueIndex {
  /** The places that say a value that was looked for, ascending; none: nobody said it. */
  holders(value: Pick<Value, 'readings' | 'groups'>): readonly number[];
}

/** Looks for values in texts, each read once; `place` is a turn, or whatever else says them. Linear. */
export function indexValues(
  values: readonly Value[],
  texts: Iterable<{ place: number; text: string }>,
): ValueIndex {
  const placesByReading = new Map<string, number[]>();
  const runs = new Runs();
  const asked = new Set(values.flatMap(askedOf));
  const known = new Map<string, readonly string[]>();
  for (const { place, text } of asked.size === 0 ? [] : texts) {
    for (const reading of readingsIn(text, asked, known)) {
      const places = placesByReading.get(reading);
      if (places === undefined) placesByReading.set(reading, [place]);
      else if (places.at(-1) !== place) places.push(place);
    }
    for (const { reading } of runsIn(text)) runs.add(place, reading);
  }
  const whole = (reading: string): readonly number[] => placesByReading.get(reading) ?? [];
  const holdersOf = (reading: string): readonly number[] => {
    const places = placesByReading.get(reading) ?? placesByReading.get(asPart(reading));
    if (places !== undefined) return places;
    return reading.length < PART_DIGITS_MIN || !digitsOfRun.test(reading)
      ? []
      : runs.holders(reading);
  };
  return {
    holders({ readings, groups }) {
      for (const reading of readings) {
        const places = holdersOf(reading);
        if (places.length > 0) return places;
      }
      const each = groups.map(whole);
      return each.length > 0 && each.every((places) => places.length > 0)
        ? [...new Set(each.flat())].toSorted((one, other) => one - other)
        : [];
    },
  };
}

const askedOf = ({ readings, groups }: Value): string[] => [
  ...readings,
  ...readings.map(asPart),
  ...groups,
];

/** How a number is indexed that stands in a longer one; what is asked for as a number of its own is not said by it. */
const asPart = (group: string): string => `part ${group}`;

const codeInWords = /(?<![\p{L}\p{N}])(\p{Lu}{1,5}) (\p{Nd}{2,})(?!\p{Nd})/gu;

/**
 * What of `asked` a text says; `known` has it of words that were read before: tools say the same again and again.
 * Linear.
 */
function readingsIn(
  text: string,
  asked: ReadonlySet<string>,
  known: Map<string, readonly string[]>,
): Set<string> {
  const readings = new Set<string>();
  const add = (all: readonly string[]): void => {
    for (const reading of all) if (asked.has(reading)) readings.add(reading);
  };
  for (const { parts } of findAddresses(text)) for (const part of parts) add(part.readings);
  // What stands in a link may be told without it.
  for (const written of wordsWithDigits(text)) {
    const read = known.get(written) ?? allReadings(written).filter((reading) => asked.has(reading));
    known.set(written, read);
    add(read);
  }
  for (const { 1: letters = '', 2: digits = '' } of text.matchAll(codeInWords))
    add([canonical(plain(`${letters}${digits}`))]);
  return readings;
}

/** A word in every form in which it may be asked for, small numbers and parts of identifiers too. */
function allReadings(written: string): string[] {
  const text = plain(written);
  const parts = [
    ...readWord(written, true),
    ...(text.match(/\d[\d.,'_ ]*\d|\d/g) ?? []).flatMap(readNumbers),
  ];
  return [
    ...(digitsAlone.test(text) ? [] : [canonical(text)]),
    ...parts.flatMap(({ readings, groups }) => [...readings, ...groups.map(asPart)]),
    ...text
      .split(/[-._]/)
      .filter((part) => mixed.test(part))
      .map(canonical),
  ];
}

const anyDigit = /\p{Nd}/gu;

const wordHere = new RegExp(word.source, 'uy');

const inWord = new RegExp(String.raw`^(?:${sign}|[-\u2010-\u2015\u2212_.,'’\u066b\u066c])$`, 'u');

const joiner = /^[-\u2010-\u2015\u2212_.,'’\u066b\u066c]$/u;

/** The words of a text that hold a digit: most of a page hold none, and are not read. */
function* wordsWithDigits(text: string): Generator<string> {
  let end = 0;
  anyDigit.lastIndex = 0;
  for (let digit = anyDigit.exec(text); digit !== null; digit = anyDigit.exec(text)) {
    const next = anyDigit.lastIndex;
    wordHere.lastIndex = wordStart(text, digit.index, end);
    const written = wordHere.exec(text)?.[0];
    if (written !== undefined) {
      end = wordHere.lastIndex;
      yield written;
    }
    // Other generators move the place of the same pattern while this one waits.
    anyDigit.lastIndex = Math.max(next, end);
  }
}

/** Where the word around a place begins, behind `floor`. */
function wordStart(text: string, place: number, floor: number): number {
  let start = place;
  while (start > floor && inWord.test(text.charAt(start - 1))) start -= 1;
  while (start < place && joiner.test(text.charAt(start))) start += 1;
  return start;
}

/** The runs of all texts as one, to be searched at once. */
class Runs {
  private readonly pieces: string[] = [];
  private readonly places: { end: number; place: number }[] = [];
  private length = 0;
  private readonly all = once(() => this.pieces.join(' '));

  add(place: number, run: string): void {
    this.pieces.push(run);
    this.length += run.length + 1;
    this.places.push({ end: this.length, place });
  }

  /** The first place whose runs hold these digits; none: nobody said them. */
  holders(digits: string): number[] {
    const at = this.all().indexOf(digits);
    if (at === -1) return [];
    const holder = this.places.find(({ end }) => at < end);
    return holder === undefined ? [] : [holder.place];
  }
}

// Marks

const marks = new RegExp(` ?${UNSAID_MARK}`, 'gu');

/** A text without marks, whoever wrote them. */
export const withoutMarks = (text: string): string => text.replaceAll(marks, '');

/** A text with a mark behind each of these values of it. Linear. */
export function markValues(text: string, values: readonly Value[]): string {
  const ends = [...new Set(values.map(({ end }) => end))].toSorted((one, other) => one - other);
  const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
  return [...pieces, text.slice(ends.at(-1) ?? 0)].join(UNSAID_MARK);
}

/** A text without its marked values: what nobody was found to have said bears nothing out. Linear. */
export function withoutMarkedValues(text: string): string {
  if (!text.includes(UNSAID_MARK)) return text;
  // A mark stands between a number and its unit, and would hide that it is an amount.
  const clear = withoutMarks(text);
  const markedEnds = new Set<number>();
  let taken = 0;
  for (const { 0: mark, index } of text.matchAll(marks)) {
    markedEnds.add(index - taken);
    taken += mark.length;
  }
  const marked = findValues(clear).filter(({ end }) => markedEnds.has(end));
  // A word of several values stands there once.
  const endByStart = new Map(marked.map(({ start, end }) => [start, end]));
  const pieces: string[] = [];
  let from = 0;
  for (const [start, end] of endByStart) {
    pieces.push(clear.slice(from, start));
    from = end;
  }
  return [...pieces, clear.slice(from)].join(' ');
}
