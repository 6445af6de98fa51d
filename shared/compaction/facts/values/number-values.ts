import { isAscii } from '#shared/text/plain-text.ts';
import { writtenNumbers } from '../languages/written-numbers.ts';

/** A number as people write it, with what multiplies it. Groups of classes only: linear. */
export const numberSource = String.raw`\d{1,15}(?:[.,]\d{1,15}){0,6}`;
export const scaleSource = String.raw`(?:\s?(?:k|thousand|million|mn|billion|bn|천|千|만|万|萬|억|億)(?![a-z0-9]))?`;

const anyNumber = new RegExp(`${numberSource}${scaleSource}`, 'g');

/** Each number of a plain text once, with what multiplies it. */
export const distinctNumbers = (plain: string): ReadonlySet<string> =>
  new Set(plain.match(anyNumber) ?? []);

/** All values that a written number can mean, plain figures first (`1,204.50` → 1204.5). */
export function numberReadings(written: string): string[] {
  if (/^\d{1,15}$/.test(written))
    return [written.startsWith('0') ? written.replace(/^0+(?=\d)/, '') : written];
  const [number] = writtenNumbers(written.toLowerCase().trim());
  if (number === undefined) return [];
  return number.scaledValues.length > 0 ? number.scaledValues : number.values;
}

/** The readings of a range, `100~150`; of its end alone where there is no beginning. */
export function rangeReadings(
  from: string | undefined,
  ends: readonly string[],
): readonly string[] {
  const begins = from === undefined || from === '' ? [] : numberReadings(from);
  return begins.length === 0
    ? ends
    : begins.flatMap((begin) => ends.map((end) => `${begin}~${end}`));
}

const small: readonly string[] = [
  'one ein eine einen einem einer un une uno una um uma 한 하나 一',
  'two zwei deux dos dois duas due both couple 두 둘 二 两 兩',
  'three drei trois tres três tre 세 셋 三',
  'four vier quatre cuatro quatro quattro 네 넷 四',
  'five fünf cinq cinco cinque 다섯 五',
  'six sechs seis sei 여섯 六',
  'seven sieben sept siete sete sette 일곱 七',
  'eight acht huit ocho oito otto 여덟 八',
  'nine neun neuf nueve nove 아홉 九',
  'ten zehn dix diez dez dieci 열 十',
  'eleven elf onze once undici 열한 十一',
  'twelve zwölf douze doce doze dodici dozen 열두 十二',
];

/** Spelled-out numbers from one to twelve. */
export const numberByWord: ReadonlyMap<string, string> = new Map(
  small.flatMap((words, at) =>
    words.split(' ').map((word): [string, string] => [word, String(at + 1)]),
  ),
);

/** Words that tell a number without counting anything. */
const numberByPhrase: ReadonlyMap<string, string> = new Map([
  ['once', '1'],
  ['twice', '2'],
  ['pair', '2'],
  ['double', '2'],
  ['thrice', '3'],
]);

const easternDigits = '零一二三四五六七八九';
const easternSign = /[一二两兩三四五六七八九十]/gu;
const spelledWord = /[\p{L}\p{M}]{1,40}/gu;
const easternNumber = /[零一二两兩三四五六七八九十百千万萬億亿]{2,16}/gu;
const easternUnits: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1_000 };
/** These multiply all that stands before them. */
const easternPowers: Readonly<Record<string, number>> = { 万: 1e4, 萬: 1e4, 亿: 1e8, 億: 1e8 };

function easternValue(written: string): number {
  let total = 0;
  let group = 0;
  let digit = 0;
  for (const sign of written.replaceAll(/[两兩]/gu, '二')) {
    const unit = easternUnits[sign];
    const power = easternPowers[sign];
    if (power !== undefined) {
      total = (total + Math.max(1, group + digit)) * power;
      group = 0;
      digit = 0;
    } else if (unit === undefined) digit = easternDigits.indexOf(sign);
    else {
      group += (digit === 0 ? 1 : digit) * unit;
      digit = 0;
    }
  }
  return total + group + digit;
}

/** Numbers that a plain text spells out: English and European words, Chinese and Korean numerals. */
export function spelledNumbers(plain: string): string[] {
  const values: string[] = [];
  for (const word of plain.match(spelledWord) ?? []) {
    const value = numberByWord.get(word) ?? numberByPhrase.get(word);
    if (value !== undefined) values.push(value);
  }
  if (isAscii(plain)) return values;
  for (const written of plain.match(easternNumber) ?? [])
    values.push(String(easternValue(written)));
  for (const sign of plain.match(easternSign) ?? []) values.push(numberByWord.get(sign) ?? '');
  return values;
}
