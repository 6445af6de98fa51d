import { chinesePlace, japanesePlace, koreanCommon, koreanPlace } from './eastern-words.ts';
import { findWantedAttributes } from './eastern-slots.ts';
import { findInStretch, han, isCommon, type Reading, type Word } from './eastern-stretch.ts';
import { findAll, wholeMatch, type FactMatch } from '../index/fact-match.ts';
import { findMatches } from '#shared/text/matches.ts';
import { plainText } from '#shared/text/plain-text.ts';
import { once } from '#shared/once.ts';
import { holdsSign, signs } from '../index/signs.ts';

const segmenter = once(() => new Intl.Segmenter('zh', { granularity: 'word' }));
/** Runs that are segmented, names in Latin letters within; longer ones are cut, which costs a word at the cut. */
const easternRun =
  /(?<![\p{sc=Latin}\p{N}])(?:[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー々A-Za-z0-9·・]|(?<=[A-Za-z])(?:[.&'-] ?| )(?=[A-Za-z])){1,120}/gu;
const kana = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;

function wordsOf(run: string, offset: number): Word[] {
  return Array.from(segmenter().segment(run), ({ segment, index }) => ({
    text: segment,
    start: offset + index,
  }));
}

/** A Chinese sentence that asks for something: what stands in it is what is wanted. */
const asking =
  /请|請|帮|幫|麻烦|推荐|介绍|告诉|找|(?<![理思联猜])想|要|订|查|问|有没有|吗|多少|哪|什么/u;

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
    found.push(...findInStretch(text, { words: walk.words, before: walk.before, after }, options));
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
