import { findMatches } from '#shared/text/matches.ts';

/** A number as written, with a word or sign that multiplies it. Classes only: linear. */
const written =
  /(\d+(?:[.,]\d+)*)(?:\s?(k|thousand|million|mn|m|천|千|만|万|萬|억|億)(?![a-z0-9]))?/g;
const factors: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  천: 1e3,
  千: 1e3,
  만: 1e4,
  万: 1e4,
  萬: 1e4,
  m: 1e6,
  mn: 1e6,
  million: 1e6,
  억: 1e8,
  億: 1e8,
};

/** Longer runs of digits are compared as they are written. */
const LONGEST_NUMBER = 40;

function plain(whole: string, fraction: string): string {
  const digits = whole.replace(/^0+(?=\d)/, '');
  const rest = fraction.replace(/0+$/, '');
  return rest === '' ? digits : `${digits}.${rest}`;
}

/** The values that `1,204.50`, `1.204,50` or `1.204` can mean; none for dates and versions. */
function valuesOf(text: string): string[] {
  if (text.length > LONGEST_NUMBER) return /[.,]/.test(text) ? [] : [text];
  const english = text.replaceAll(/(\d),(?=\d{3}(?!\d))/g, '$1');
  const continental = text.replaceAll(/(\d)\.(?=\d{3}(?!\d))/g, '$1');
  const values = [english, continental].flatMap((reading) => {
    const [, whole, fraction = ''] = /^(\d+)(?:[.,](\d+))?$/.exec(reading) ?? [];
    return whole === undefined ? [] : [plain(whole, fraction)];
  });
  return [...new Set(values)];
}

interface WrittenNumber {
  text: string;
  /** All that it can mean, in plain figures; empty for what has more than two parts. */
  values: string[];
  /** The same, multiplied by the word behind it (10k, 3만). */
  scaledValues: string[];
  /** Its runs of digits without leading zeros. */
  parts: string[];
}

/** Numbers of a text, which is normalised (NFKC) and in lower case. Linear. */
export function writtenNumbers(text: string): WrittenNumber[] {
  return Array.from(text.matchAll(written), ([, number = '', scale = '']) => {
    const values = valuesOf(number);
    const factor = factors[scale];
    return {
      text: number,
      values,
      scaledValues:
        factor === undefined
          ? []
          : values.map((value) => String(Math.round(Number(value) * factor))),
      parts: number.split(/[.,]/).map((part) => valuesOf(part)[0] ?? part),
    };
  });
}

const wordsByNumber: readonly (readonly [number, string])[] = [
  [10, 'ten oct october okt oktober octobre octubre ottobre outubro'],
  [11, 'eleven nov november novembre noviembre novembro'],
  [12, 'twelve dozen dec december dez dezember décembre diciembre dicembre dezembro'],
  [13, 'thirteen'],
  [14, 'fourteen fortnight'],
  [15, 'fifteen'],
  [16, 'sixteen'],
  [17, 'seventeen'],
  [18, 'eighteen'],
  [19, 'nineteen'],
  [20, 'twenty'],
  [30, 'thirty'],
  [40, 'forty'],
  [50, 'fifty'],
  [60, 'sixty'],
  [70, 'seventy'],
  [80, 'eighty'],
  [90, 'ninety'],
  [100, 'hundred'],
  [1_000, 'thousand'],
];
const numberByWord: ReadonlyMap<string, number> = new Map(
  wordsByNumber.flatMap(([number, words]) =>
    words.split(' ').map((word): [string, number] => [word, number]),
  ),
);
const units = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const compound = new RegExp(
  String.raw`\b([a-z]{4,7}ty)[- ](${units.join('|')}|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\b`,
  'g',
);
const ordinals = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
];
const words = /\p{L}+/gu;
const afterNoon = /(?:오후|午後|下午)\s?(\d{1,2})(?!\d)|(?<!\d)(\d{1,2})(?::\d\d)?\s?p\.?m/g;
const clock = /(?<!\d)(1[3-9]|2[0-3]):\d\d/g;
const shortYear = /(?<!\d)\d{1,2}[/.-]\d{1,2}[/.-](\d\d)(?!\d)/g;
/** From the 12-hour clock to the other one. */
const HALF_A_DAY_HOURS = 12;

/**
 * Numbers that a faithful summary may write as figures though the text has them otherwise: months and
 * number words, hours of the other clock, the year of 5/8/23. Text in lower case. English first, months
 * of some other languages; a heuristic that lets rather too much pass than too little.
 */
export function impliedNumbers(text: string): string[] {
  const implied: number[] = [];
  for (const word of text.match(words) ?? []) {
    const number = numberByWord.get(word);
    if (number !== undefined) implied.push(number);
  }
  for (const [, tens = '', unit = ''] of findMatches(text, compound))
    implied.push(
      (numberByWord.get(tens) ?? 0) + Math.max(units.indexOf(unit), ordinals.indexOf(unit)) + 1,
    );
  for (const [, east, west] of findMatches(text, afterNoon))
    implied.push(Number(east ?? west) + HALF_A_DAY_HOURS);
  for (const [, hour] of findMatches(text, clock)) implied.push(Number(hour) - HALF_A_DAY_HOURS);
  for (const [, year] of findMatches(text, shortYear)) implied.push(2_000 + Number(year));
  return implied.map(String);
}
