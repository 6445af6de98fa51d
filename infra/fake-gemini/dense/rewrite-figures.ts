import type { Language } from './language.ts';

const ones = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const numberWord = new RegExp(
  `\\b(?:(${tens.join('|')})(?:-(${ones.slice(0, 9).join('|')}))?|(${ones.slice(1).join('|')}))\\b(?= (?!of\\b|hundred|thousand|million|and a half)\\p{L})`,
  'giu',
);

function figure(...[, ten, one, small]: (string | undefined)[]): string {
  const unit = small ?? one;
  const units = unit === undefined ? 0 : ones.indexOf(unit.toLowerCase()) + 1;
  return String((ten === undefined ? 0 : 10 * (tens.indexOf(ten.toLowerCase()) + 2)) + units);
}

/** `two kids` → `2 kids`; `one` stays, which is seldom a number. */
export const figuresForWords = (text: string): string =>
  text.replace(numberWord, (...found: string[]) => figure(...found));

const ranges: Readonly<Record<Language, RegExp | undefined>> = {
  en: /\b(?:from|between) (\d[\d.:,]*) (?:to|until|till|and) (\d[\d.:,]*\d|\d)(?![\d-])/giu,
  de: /\bvon (\d[\d.:,]*) bis (\d[\d.:,]*\d|\d)(?![\d-])/giu,
  zh: /(?:从)?(?<![\d.:,-])(\d[\d.:,]*)[到至](\d[\d.:,]*\d|\d)/gu,
  ja: /(?<![\d.:,-])(\d[\d.:,]*)から(\d[\d.:,]*\d|\d)まで/gu,
  ko: /(?<![\d.:,-])(\d[\d.:,]*)부터 (\d[\d.:,]*\d|\d)까지/gu,
  other: undefined,
};

/** `from 10 to 12` → `10-12`. */
export function joinRanges(text: string, language: Language): string {
  const range = ranges[language];
  return range === undefined ? text : text.replace(range, '$1-$2');
}

interface Unit {
  pattern: RegExp;
  factor: number;
  unit: string;
}

const units: readonly Unit[] = [
  { pattern: /(?<![\d.,])(\d{1,5}(?:\.\d)?) ?(?:s|sec|seconds)\b/u, factor: 1_000, unit: 'ms' },
  { pattern: /(?<![\d.,])(\d{4,6}) ?(?:ms|milliseconds)\b/u, factor: 1 / 1_000, unit: 's' },
  { pattern: /(?<![\d.,])(\d\.\d) ?(?:h|hours)\b/u, factor: 60, unit: 'min' },
  { pattern: /(?<![\d.,])(90|120|150|180|240) ?(?:min|minutes)\b/u, factor: 1 / 60, unit: 'h' },
  { pattern: /(?<![\d.,])(\d{1,2}) weeks\b/u, factor: 7, unit: 'days' },
  { pattern: /(?<![\d.,])(\d{1,3}(?:\.\d)?) ?km\b/u, factor: 1_000, unit: 'm' },
  { pattern: /(?<![\d.,])(\d{1,3}\.\d) ?kg\b/u, factor: 1_000, unit: 'g' },
];

/** The first quantity in another unit, as exact as it was: `1.5 h` → `90 min`, `60 s` → `60000 ms`. */
export function convertUnit(text: string): string {
  const unit = units.find(({ pattern }) => pattern.test(text));
  if (unit === undefined) return text;
  return text.replace(unit.pattern, (found, number: string) => {
    const converted = Number((Number(number) * unit.factor).toFixed(6));
    return String(converted).length > 7 ? found : `${converted} ${unit.unit}`;
  });
}
