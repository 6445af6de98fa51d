import { chineseCommon } from './eastern-words.ts';
import { isSlotFilled } from './eastern-slots.ts';
import type { FactMatch } from '../index/fact-match.ts';
import { plainText } from '#shared/text/plain-text.ts';

export const han = /\p{sc=Han}/u;
const branch = /^[(（][^()（）\n]{1,16}[)）]/u;
/** What a restaurant or hotel has behind its name in brackets is part of it. */
const NAME_CHARACTERS_MAX = 24;

export interface Word {
  text: string;
  start: number;
}

/** How the text around a stretch is read. */
export interface Reading {
  place: RegExp;
  isAsking: boolean;
  isJapanese: boolean;
}

function nameFound(
  text: string,
  words: readonly Word[],
  kind: 'name' | 'term',
): FactMatch | undefined {
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const end = last.start + last.text.length;
  if (end - first.start > NAME_CHARACTERS_MAX) return undefined;
  const behind = branch.exec(text.slice(end, end + 20))?.[0].length ?? 0;
  const written = text.slice(first.start, end + behind);
  return { kind, start: first.start, end: end + behind, readings: [plainText(written)] };
}

/** Common words, and what the segmenter joins of them (我想去, 还有). */
export function isCommon(word: string): boolean {
  if (chineseCommon.has(word)) return true;
  if (word.length < 2 || word.length > 5) return false;
  for (let length = word.length - 1; length > 0; length--)
    if (chineseCommon.has(word.slice(0, length)) && isCommon(word.slice(length))) return true;
  return false;
}

/** A stretch between common words, and what stands around it. */
interface Stretch {
  words: readonly Word[];
  /** The word before it, or before the row of values that it ends (`海参和三文鱼`). */
  before: string;
  after: string;
  /** What a name leaves of a longer one. */
  isRest?: boolean;
}

const textOf = (words: readonly Word[]): string => words.map(({ text }) => text).join('');

/** 角楼 and 簋街, which no dictionary has; 热门 and 学校 are words. */
const isUnknownPlace = ({ words, isRest }: Stretch, { place, isJapanese }: Reading): boolean =>
  !isJapanese &&
  isRest !== true &&
  words.length === 2 &&
  words.every(({ text }) => text.length === 1) &&
  place.test(textOf(words));

/** A name where it ends as places do, else undefined. */
function placeFound(
  text: string,
  words: readonly Word[],
  { place }: Reading,
): FactMatch | undefined {
  const joined = textOf(words);
  return joined.length > 2 && place.test(joined) && han.test(joined)
    ? nameFound(text, words, 'name')
    : undefined;
}

/**
 * One stretch between common words. The longest beginning that ends as places do is a name; the rest is a
 * term, weak unless it stands where values stand, or has three characters and its sentence asks.
 */
export function findInStretch(text: string, stretch: Stretch, options: Reading): FactMatch[] {
  const { words, before, after } = stretch;
  const whole = isUnknownPlace(stretch, options) ? nameFound(text, words, 'name') : undefined;
  if (whole !== undefined) return [whole];
  for (let length = words.length; length > 0; length--) {
    const name = placeFound(text, words.slice(0, length), options);
    if (name === undefined) continue;
    const rest = { words: words.slice(length), before: '', after, isRest: true };
    return [name, ...findInStretch(text, rest, options)];
  }
  const term = nameFound(text, words, 'term');
  if (term === undefined) return [];
  const written = text.slice(term.start, term.end);
  if (written.length < 2 || !(han.test(written) || /[\p{sc=Katakana}ー]{3}/u.test(written)))
    return [];
  const { isAsking, isJapanese } = options;
  const word = { isPlace: options.place.test(written), isKnown: words.length === 1 };
  const isFilled =
    !isJapanese && !doubled.test(written) && isSlotFilled({ before, after, isAsking }, word);
  return [isFilled || (written.length > 2 && isAsking) ? term : { ...term, isWeak: true }];
}

/** 转转, 尝尝: verbs. */
const doubled = /^(.)\1$/u;
