import type { FactIndex } from '#shared/compaction/facts/index/fact-index.ts';
import { numberReadings } from '#shared/compaction/facts/values/number-values.ts';
import { holdsPhrase } from '#shared/compaction/facts/languages/phrases.ts';
import { plainText } from '#shared/text/plain-text.ts';
import type { CheckedValue } from '#shared/compaction/facts/index/unsupported.ts';

/** How many of one unit another one has, by the units as they are written. */
const unitFactors: readonly (readonly [unit: RegExp, factors: readonly number[]])[] = [
  [/\d\s?(?:mg|g|kg|grams?|kilos?)\b/iu, [1_000, 1_000_000]],
  [/\d\s?(?:ml|l|lit(?:er|re)s?)\b/iu, [1_000]],
  [/\d\s?(?:mm|cm|m|km|met(?:er|re)s?)\b/iu, [10, 100, 1_000, 100_000]],
  [/\d\s?(?:b|kb|mb|gb|tb|bytes?)\b/iu, [1_000, 1_024, 1_048_576]],
  [
    /\d[\s-]?(?:ms|milliseconds?|s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|years?)\b|\d\s?(?:秒|分|時間|小时|日|天|週|周)/iu,
    [7, 12, 24, 60, 168, 1_000, 1_440, 3_600, 60_000, 86_400, 3_600_000],
  ],
];

const isClose = (one: number, other: number, tolerance: number): boolean =>
  Math.abs(one - other) <= tolerance * Math.max(Math.abs(one), Math.abs(other));

const numbersIn = (text: string): number[] =>
  (text.match(/\d+(?:[.,]\d+)*/gu) ?? []).flatMap((written) => numberReadings(written).map(Number));

const saidNumbers = ({ numbers, figures }: FactIndex): number[] =>
  [...new Set([...numbers, ...figures])].map(Number).filter((value) => value > 0);

/** `60000 ms` where somebody said 60 s: every figure of it, by a factor between units. */
function isConverted({ kind, text }: CheckedValue, index: FactIndex): boolean {
  if (kind !== 'quantity' && kind !== 'identifier') return false;
  const factors = unitFactors.flatMap(([unit, own]) => (unit.test(text) ? own : []));
  const values = numbersIn(text);
  if (factors.length === 0 || values.length === 0) return false;
  const said = new Set(saidNumbers(index).map((value) => value.toPrecision(6)));
  const isSaid = (value: number): boolean => said.has(value.toPrecision(6));
  return values.every((value) =>
    factors.some((factor) => isSaid(value * factor) || isSaid(value / factor)),
  );
}

/** Words and signs in front of a value that is told as a round one. */
const roundedBefore =
  /(?:~|≈|about|around|approx\.?|approximately|circa|ca\.|nearly|almost|roughly|over|under|some|rund|etwa|environ|約|大约|约|약)\s?[$€£¥₩]?\s?$/iu;
/** What people call about so much: 1,187 guests are about 1,200. */
const ROUNDING = 0.05;

function isRounded({ kind, text, before }: CheckedValue, index: FactIndex): boolean {
  if (kind !== 'number' && kind !== 'quantity' && kind !== 'amount') return false;
  const isTold = roundedBefore.test(before) || /^[~≈約约약]/u.test(text);
  if (!isTold) return false;
  const said = saidNumbers(index);
  const values = numbersIn(text);
  return (
    values.length > 0 &&
    values.every((value) => said.some((other) => isClose(value, other, ROUNDING)))
  );
}

/** So many numbers in front of a sum are added up. */
const SUMMANDS = 8;

/** `25 red, 37 blue, total 62`: the numbers right in front of it add up. Those are looked for themselves. */
function isSum({ kind, text, before }: CheckedValue): boolean {
  if (kind !== 'number' && kind !== 'quantity' && kind !== 'amount') return false;
  const [sum, ...others] = numbersIn(text);
  if (sum === undefined || others.length > 0) return false;
  let total = 0;
  return numbersIn(before)
    .toReversed()
    .slice(0, SUMMANDS)
    .some((value, index) => {
      total += value;
      return index > 0 && isClose(total, sum, Number.EPSILON);
    });
}

/** What `…` leaves out, and where links, templates and ranges are joined. */
const joints = /…|\.{3}|\s?[~–]\s?|[/?&=#,;:()<>{}[\]|+*"'`\s]+/u;
/** A single letter stands everywhere. */
const PART_CHARACTERS = 2;
/** Single figures stand everywhere: of a version not a part counts but the whole. */
const version = /^v?\d+(?:\.\d+)+$/iu;

/** `769px-1024px`. */
const sizes = /^\d+[a-z%]{1,3}[-–~]\d+[a-z%]{1,3}$/iu;

/** `https://host/a/…/b`, `769px-1024px`, `/users/{id}?page=2`: its parts stand there one by one. */
function isJoined({ kind, text }: CheckedValue, index: FactIndex): boolean {
  const isElided = /…|\.{3}/u.test(text);
  // Parts of two order numbers make a third one: only sizes and what is told as elided are put together.
  const mayBeJoined = kind === 'link' || (kind === 'identifier' && (isElided || sizes.test(text)));
  if (!mayBeJoined && !(kind === 'quoted' && isElided)) return false;
  const phrases = index.phrases();
  const holds = (part: string): boolean => holdsPhrase(phrases, plainText(part));
  const parts = text.split(joints).filter((part) => part.length >= PART_CHARACTERS);
  if (kind === 'quoted') return parts.length > 0 && splitElided(text).every(holds);
  const pieces = parts.flatMap((part) => {
    if (holds(part)) return [];
    return version.test(part) ? [part] : part.split(/[-_.]/u);
  });
  const isWhole = parts.length === 1 && pieces.length <= 1;
  const telling = pieces.filter((part) => part.length >= PART_CHARACTERS);
  return !isWhole && parts.length > 0 && telling.every(holds);
}

/** `2/3` where `\\frac{2}{3}` stands, `10/15/25` for three numbers, `100x100` for two: each of them is said. */
const listed = /^\d+(?:[/x×]\d+)+(?:px)?$/iu;

const isListed = ({ text }: CheckedValue, { figures, numbers }: FactIndex): boolean =>
  listed.test(text) &&
  (text.match(/\d+/gu) ?? []).every((part) => {
    const [value = ''] = numberReadings(part);
    return figures.has(value) || numbers.has(value);
  });

const splitElided = (text: string): string[] =>
  text
    .split(/…|\.{3}/u)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * Whether a value follows from what an index holds by a rule: in another unit, rounded and told as such, added up, joined of
 * parts that stand there, or a fraction or a list of numbers that do. Relative dates, number words and ranges are read by the index itself. Heuristic.
 */
export const isDerived = (value: CheckedValue, index: FactIndex): boolean =>
  isConverted(value, index) ||
  isRounded(value, index) ||
  isSum(value) ||
  isJoined(value, index) ||
  isListed(value, index);
