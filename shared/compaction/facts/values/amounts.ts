import { findAll, wholeMatch, type Finder, type FactMatch } from '../index/fact-match.ts';
import { numberReadings, numberSource, rangeReadings, scaleSource } from './number-values.ts';

const currencies: Readonly<Record<string, string>> = {
  usd: '$ us$ usd dollar dollars bucks 달러 美元 美金 ドル dólares dólar',
  eur: '€ eur euro euros 유로 欧元 歐元 ユーロ',
  gbp: '£ gbp pound pounds quid 파운드 英镑 ポンド',
  krw: '₩ krw won 원 韩元 韓元 ウォン',
  jpy: 'jpy yen 円 엔 日元 日圓',
  cny: 'cny rmb yuan 元 块 块钱 元钱 人民币 위안 元整',
  inr: '₹ inr rs rupee rupees',
  brl: 'r$ brl reais real',
  chf: 'chf franken',
  yen: '¥ ￥',
};
const currencyBySign: ReadonlyMap<string, string> = new Map(
  Object.entries(currencies).flatMap(([code, signs]) =>
    signs.split(' ').map((sign): [string, string] => [sign, code === 'yen' ? '¥' : code]),
  ),
);

const signs = String.raw`us\$|r\$|[$€£¥￥₩₹]|usd|eur|gbp|krw|jpy|cny|rmb|inr|brl|chf`;
const words = [...currencyBySign.keys()]
  .filter((sign) => /^\p{L}+$/u.test(sign))
  .toSorted((a, b) => b.length - a.length)
  .join('|');
const range = String.raw`(?:(${numberSource})\s?(?:[-~]|to|bis|至|到)\s?)?`;
const signFirst = new RegExp(
  String.raw`(?<![\p{L}\d$])(${signs})\s?${range}(${numberSource}${scaleSource})(?!\d)`,
  'giu',
);
const signLast = new RegExp(
  String.raw`(?<![\d.,$€£¥₩₹]|[a-z_]-?)${range}(${numberSource}${scaleSource})\s?(?:(${words})(?![a-z])|([€£₩$]))(?:以上|以下|以内|以內|左右|이상|이하|이내|미만)?`,
  'giu',
);

function amountFound(
  match: RegExpExecArray,
  sign: string | undefined,
  [from, to]: readonly (string | undefined)[],
): FactMatch | undefined {
  const code = currencyBySign.get((sign ?? '').toLowerCase());
  const readings = rangeReadings(from, numberReadings(to ?? ''));
  if (code === undefined || readings.length === 0) return undefined;
  return wholeMatch(
    match,
    'amount',
    readings.map((value) => `${code}:${value}`),
  );
}

/** Sums of money: a sign or a word for a currency beside a number. Heuristic: ¥ is of no country. */
export const findAmounts: Finder = (text) => [
  ...findAll(text, signFirst, (match) => amountFound(match, match[1], [match[2], match[3]])),
  ...findAll(text, signLast, (match) =>
    amountFound(match, match[3] ?? match[4], [match[1], match[2]]),
  ),
];
