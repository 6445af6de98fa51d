import {
  chineseCommon,
  chinesePlace,
  japanesePlace,
  koreanCommon,
  koreanPlace,
} from './eastern-words.ts';
import { findWantedAttributes, isSlotFilled } from './eastern-slots.ts';
import { findAll, wholeMatch, type FactMatch } from '../index/fact-match.ts';
import { findMatches } from '../index/matches.ts';
import { plainText } from '../speech/plain-text.ts';
import { once } from '#shared/once.ts';
import { holdsSign, signs } from '../index/signs.ts';

const segmenter = once(() => new Intl.Segmenter('zh', { granularity: 'word' }));
/** Runs that are segmented, names in Latin letters within; longer ones are cut, which costs a word at the cut. */
const easternRun =
  /(?<![\p{sc=Latin}\p{N}])(?:[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー々A-Za-z0-9·・]|(?<=[A-Za-z])(?:[.&'-] ?| )(?=[A-Za-z])){1,120}/gu;
const han = /\p{sc=Han}/u;
const kana = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;
const branch = /^[(（][^()（）\n]{1,16}[)）]/u;
/** What a restaurant or hotel has behind its name in brackets is part of it. */
const NAME_CHARACTERS_MAX = 24;

interface Word {
  text: string;
  start: number;
}

function wordsOf(run: string, offset: number): Word[] {
  return Array.from(segmenter().segment(run), ({ segment, index }) => ({
    text: segment,
    start: offset + index,
  }));
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
function isCommon(word: string): boolean {
  if (chineseCommon.has(word)) return true;
  if (word.length < 2 || word.length > 5) return false;
  for (let length = word.length - 1; length > 0; length--)
    if (chineseCommon.has(word.slice(0, length)) && isCommon(word.slice(length))) return true;
  return false;
}
/** A Chinese sentence that asks for something: what stands in it is what is wanted. */
const asking =
  /请|請|帮|幫|麻烦|推荐|介绍|告诉|找|(?<![理思联猜])想|要|订|查|问|有没有|吗|多少|哪|什么/u;

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
function flush(text: string, stretch: Stretch, options: Reading): FactMatch[] {
  const { words, before, after } = stretch;
  const whole = isUnknownPlace(stretch, options) ? nameFound(text, words, 'name') : undefined;
  if (whole !== undefined) return [whole];
  for (let length = words.length; length > 0; length--) {
    const name = placeFound(text, words.slice(0, length), options);
    if (name === undefined) continue;
    const rest = { words: words.slice(length), before: '', after, isRest: true };
    return [name, ...flush(text, rest, options)];
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

interface Reading {
  place: RegExp;
  isAsking: boolean;
  isJapanese: boolean;
}

/** How far from a word the request may stand that it belongs to, in its sentence. */
const ASKING_REACH = 60;
const hiraganaOnly = /^\p{sc=Hiragana}+$/u;
/** Common words that stand in names before what ends them: 君悦大酒店, 乾元酒店. */
const inNames = /^[大小老新元中天上下]$/u;
/** Common words that begin names which the segmenter does not know: 大酪干, 十渡. */
const beginsNames = /^[大小老新三四五六七八九十]$/u;
/** Between values of one row. */
const joining = /^[和与及或跟]$|^还有$|^或者$|^以及$/u;
/** Stretches longer than a name are no name: their words count alone. */
const STRETCH_WORDS = 10;

/** Whether a common word belongs to the name around it. */
function isWithinName(words: readonly Word[], at: number, state: Walk): boolean {
  const word = words[at]?.text ?? '';
  const next = words[at + 1]?.text ?? '';
  if (state.words.length > 0)
    return word === '儿' || (inNames.test(word) && state.options.place.test(next));
  const isUnknown = next.length === 1 && han.test(next) && !isCommon(next);
  return beginsNames.test(word) && isUnknown && !state.options.isJapanese;
}

interface Walk {
  words: Word[];
  before: string;
  options: Reading;
}

const sentenceBefore = /[^。！？!?\n]*$/u;
const sentenceBehind = /^[^。！？!?\n]*[？?]?/u;

function readingAround(text: string, offset: number): Reading {
  const before = text.slice(Math.max(0, offset - ASKING_REACH), offset);
  const behind = text.slice(offset, offset + ASKING_REACH);
  const isJapanese = kana.test(before + behind);
  const sentence = `${sentenceBefore.exec(before)?.[0] ?? ''}${sentenceBehind.exec(behind)?.[0] ?? ''}`;
  return {
    place: isJapanese ? japanesePlace : chinesePlace,
    isAsking: !isJapanese && asking.test(sentence),
    isJapanese,
  };
}

function inRun(text: string, run: string, offset: number): FactMatch[] {
  const options = readingAround(text, offset);
  const found: FactMatch[] = [];
  const walk: Walk = { words: [], before: '', options };
  const words = wordsOf(run, offset);
  const close = (after: string): void => {
    if (walk.words.length === 0) return;
    found.push(...flush(text, { words: walk.words, before: walk.before, after }, options));
    walk.words = [];
  };
  for (const [at, word] of words.entries()) {
    const isBorder =
      !isWithinName(words, at, walk) &&
      (isCommon(word.text) || (options.isJapanese && hiraganaOnly.test(word.text)));
    // 酒店 alone says nothing, 友谊酒店 is a name.
    const isEnding = isBorder && walk.words.length > 0 && options.place.test(word.text);
    if (!isBorder || isEnding) walk.words.push(word);
    if (!isBorder && walk.words.length < STRETCH_WORDS) continue;
    const isRow = joining.test(word.text) && walk.words.length > 0;
    close(isRow ? (words[at + 1]?.text ?? '') : word.text);
    if (!isRow) walk.before = word.text;
  }
  close('');
  return found;
}

/** Those that begin behind the one before: the branch in the brackets of a name is no name of its own. */
function withoutOverlaps(names: readonly FactMatch[]): FactMatch[] {
  let end = 0;
  return names.filter((name) => {
    if (name.start < end) return false;
    ({ end } = name);
    return true;
  });
}

const title = /《([^《》\n]{1,60})》/gu;

/** Names of places and institutions in Chinese and Japanese, and words that say more than others (weak). */
function findHanNames(text: string): FactMatch[] {
  const titles = findAll(text, title, (match) => ({
    kind: 'name' as const,
    start: match.index + 1,
    end: match.index + 1 + (match[1] ?? '').length,
    readings: [plainText(match[1] ?? '')],
  }));
  const names: FactMatch[] = [];
  for (const match of findMatches(text, easternRun))
    if (han.test(match[0])) names.push(...inRun(text, match[0], match.index));
  const apart = withoutOverlaps(names);
  const attributes = kana.test(text) ? [] : findWantedAttributes(text);
  // Words of an attribute say less than the whole of it.
  const isPartOfAttribute = ({ start, end, isWeak }: FactMatch): boolean =>
    isWeak === true && attributes.some((whole) => whole.start <= start && end <= whole.end);
  return [...titles, ...apart.filter((name) => !isPartOfAttribute(name)), ...attributes];
}

const koreanName =
  /(?:이름은|성함은|이름이|저는|나는)\s([\p{sc=Hangul}]{2,4}|[A-Z][a-z]{1,20})(?=(?:이고|고|이야|야|이에요|예요|입니다|이라고|라고)(?![\p{sc=Hangul}]))/gu;

function findKoreanNames(text: string): FactMatch[] {
  const places = findAll(text, koreanPlace, (match) =>
    koreanCommon.has(match[1] ?? '') || (match[1] ?? '').length < 3
      ? undefined
      : wholeMatch(match, 'name', [plainText(match[1] ?? '')]),
  );
  const persons = findAll(text, koreanName, (match): FactMatch => {
    const name = match[1] ?? '';
    const start = match.index + match[0].length - name.length;
    return { kind: 'name', start, end: start + name.length, readings: [plainText(name)] };
  });
  return [...persons, ...places];
}

/**
 * Names and telling words in scripts without capitals. A heuristic: endings of places and institutions
 * in Chinese, Japanese and Korean, words of the segmenter's dictionary for the rest.
 */
export const findEasternNames = (text: string): FactMatch[] =>
  holdsSign(text, signs.beyondAscii)
    ? [
        ...(han.test(text) || kana.test(text) ? findHanNames(text) : []),
        ...(/\p{sc=Hangul}/u.test(text) ? findKoreanNames(text) : []),
      ]
    : [];
