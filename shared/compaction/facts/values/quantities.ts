import { findAll, wholeMatch, type Finder, type FactMatch } from '../index/fact-match.ts';
import {
  numberByWord,
  numberReadings,
  numberSource,
  rangeReadings,
  scaleSource,
} from './number-values.ts';
import { holdsSign, signs } from '../index/signs.ts';

/** Units by what they count; words of one row are one unit. */
const units: readonly (readonly [name: string, written: string])[] = [
  ['%', '% percent prozent 퍼센트 프로 パーセント'],
  [
    'person',
    'person persons people passenger passengers adult adults guest guests participant participants personen pessoas personas personnes persone 명 분 인 人 位 名',
  ],
  ['child', 'child children kid kids'],
  ['bag', 'bag bags baggage baggages luggage suitcase suitcases'],
  ['ticket', 'ticket tickets seat seats'],
  ['room', 'room rooms bedroom bedrooms bed beds 间 間 室'],
  ['piece', 'piece pieces item items copy copies stück 개 個 个 件 つ 枚 장'],
  ['year', 'year years yr yrs jahre jahr ans años año anos anni 년 年 年間'],
  ['age', 'years-old year-old 살 세 歳 歲 岁 才'],
  ['month', 'month months monate monat mois meses mes mesi 개월 个月 個月 ヶ月 か月'],
  ['week', 'week weeks wochen woche semaines semanas settimane 주 주일 周 週 週間'],
  ['day', 'day days tage tag jours días dias giorni 일 天 日間'],
  ['night', 'night nights nächte nuits noches noites notti 박 晚 泊'],
  ['hour', 'hour hours hr hrs stunden stunde heures horas ore 시간 小时 小時 時間'],
  ['minute', 'minute minutes min mins minuten minutos minuti 분간 分钟 分鐘 分間'],
  ['second', 'second seconds sec secs sekunden s ms'],
  ['time', 'times mal fois veces vezes volte 번 회 차 次 回'],
  ['star', 'star stars 星 성'],
  ['point', 'point points 분점 점 分 点 点满分'],
  ['kg', 'kg kilo kilos kilogram kilograms 킬로 公斤'],
  ['g', 'g gram grams mg'],
  ['lb', 'lb lbs oz'],
  ['km', 'km kilometer kilometers kilometres 킬로미터 公里'],
  ['m', 'm meter meters metres 미터 米'],
  ['cm', 'cm mm 센티 厘米 センチ'],
  ['mile', 'mile miles mi'],
  ['foot', 'ft feet foot inch inches'],
  ['l', 'l ml liter liters litre litres 리터'],
  ['degree', '°c °f ° degrees degree 도 度 ℃'],
  ['area', 'm² ㎡ sqm 제곱미터 평 平米'],
  ['byte', 'kb mb gb tb'],
  ['rate', 'mph kmh fps hz khz mhz ghz kwh rpm'],
  ['card', 'credits tokens'],
];
const unitByWord: ReadonlyMap<string, string> = new Map(
  units.flatMap(([name, written]) =>
    written.split(' ').map((word): [string, string] => [word, name]),
  ),
);
const unitWords = [...unitByWord.keys()].toSorted((a, b) => b.length - a.length);
const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const spacedUnits = unitWords.filter((word) => /^[a-zäöüßñí-]+$/u.test(word)).map(escaped);
const otherUnits = unitWords.filter((word) => !/^[a-zäöüßñí-]+$/u.test(word)).map(escaped);

const spelled = [...numberByWord.keys()]
  .filter((word) => /^[a-zäöüßêí]{3,}$/u.test(word))
  .join('|');
/** `1-2 hours`, `1小时 - 2小时`: the first number of a range, its unit with it or not. */
const rangeSource = (unitsSource: string): string =>
  String.raw`(?:(${numberSource})\s?(?:${unitsSource})?\s?(?:[-~]|to|bis|至|到|から|에서)\s?)?`;
/** Whether it is a bound belongs to what was said. */
const boundSource = String.raw`(?:以上|以下|以内|以內|左右|이상|이하|이내|미만)?`;
const spacedSource = spacedUnits.join('|');
const otherSource = otherUnits.join('|');
/** `3 checked bags`: one plain word may stand between. */
const spaced = new RegExp(
  String.raw`(?<![\p{L}\d.,:/$€£_-])${rangeSource(spacedSource)}(${numberSource}${scaleSource})[\s-]?(?:[a-z]{4,12}\s)?(${spacedSource})(?![\p{L}\d])`,
  'giu',
);
const unspaced = new RegExp(
  String.raw`(?<![a-z\d.,:/$€£_-])${rangeSource(otherSource)}(${numberSource}${scaleSource})\s?(${otherSource})(?![a-z\d])${boundSource}`,
  'giu',
);
const spelledOut = new RegExp(
  String.raw`(?<![\p{L}\d-])()(${spelled})[\s-](?:[a-z]{4,12}\s)?(${spacedSource})(?![\p{L}\d])`,
  'giu',
);

function quantityFound(match: RegExpExecArray): FactMatch | undefined {
  const written = (match[2] ?? '').toLowerCase();
  const unit = unitByWord.get((match[3] ?? '').toLowerCase());
  const word = numberByWord.get(written);
  const values = word === undefined ? numberReadings(written) : [word];
  if (unit === undefined || values.length === 0) return undefined;
  return wholeMatch(
    match,
    'quantity',
    rangeReadings(match[1], values).map((value) => `${value} ${unit}`),
  );
}

/** Numbers in figures with a unit. Of those without blanks before them, the sign of per cent alone is ASCII. */
export const findQuantities: Finder = (text) => [
  ...findAll(text, spaced, quantityFound),
  ...(holdsSign(text, signs.beyondAscii | signs.percent)
    ? findAll(text, unspaced, quantityFound)
    : []),
];

/** Small numbers in words with a unit: two nights. */
export const findSpelledQuantities: Finder = (text) => findAll(text, spelledOut, quantityFound);

const plainNumber = new RegExp(
  String.raw`(?<![\p{L}\d.,_#-]|\d-)(${numberSource}${scaleSource})(?![\d_]|[a-z])`,
  'giu',
);

/** Numbers of two digits or more, and decimals, that belong to nothing else. */
export const findNumbers: Finder = (text) =>
  findAll(text, plainNumber, (match) => {
    const readings = numberReadings(match[1] ?? '');
    if (readings.every((value) => value.length < 2)) return undefined;
    return wholeMatch(match, 'number', readings);
  });
