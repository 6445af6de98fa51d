import {
  chineseCommon,
  chinesePlace,
  japanesePlace,
  koreanCommon,
  koreanPlace,
} from './eastern-words.ts';
import { findAll, wholeMatch, type Found } from './found.ts';
import { plainText } from './plain-text.ts';

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });
/** Runs that are segmented; longer ones are cut, which costs a word at the cut. */
const easternRun =
  /(?<![\p{sc=Latin}\p{N}])[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー々A-Za-z0-9·・]{1,120}/gu;
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
  return Array.from(segmenter.segment(run), ({ segment, index }) => ({
    text: segment,
    start: offset + index,
  }));
}

function nameFound(text: string, words: readonly Word[], kind: 'name' | 'term'): Found | undefined {
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
const asking = /请|請|帮|幫|麻烦|推荐|找|想|要|订|查|问|有没有|吗|多少|哪|什么/u;

/**
 * One stretch between common words. The longest beginning that ends as places do is a name; the rest is a
 * term, weak unless it has three characters and stands in a sentence that asks.
 */
function flush(text: string, stretch: readonly Word[], options: Reading): Found[] {
  for (let length = stretch.length; length > 0; length--) {
    const words = stretch.slice(0, length);
    const joined = words.map((word) => word.text).join('');
    if (joined.length < 3 || !options.place.test(joined) || !han.test(joined)) continue;
    const name = nameFound(text, words, 'name');
    const rest = flush(text, stretch.slice(length), options);
    return name === undefined ? rest : [name, ...rest];
  }
  const term = nameFound(text, stretch, 'term');
  if (term === undefined) return [];
  const written = text.slice(term.start, term.end);
  if (written.length < 2 || !(han.test(written) || /[\p{sc=Katakana}ー]{3}/u.test(written)))
    return [];
  return [written.length > 2 && options.isAsking ? term : { ...term, isWeak: true }];
}

interface Reading {
  place: RegExp;
  isAsking: boolean;
}

/** How far from a word the request may stand that it belongs to. */
const ASKING_REACH = 60;
const hiraganaOnly = /^\p{sc=Hiragana}+$/u;
/** Common words that stand in names before what ends them: 君悦大酒店, 乾元酒店. */
const inNames = /^[大小老新元中天上下]$/u;
/** Stretches longer than a name are no name: their words count alone. */
const STRETCH_WORDS = 10;

function inRun(text: string, run: string, offset: number): Found[] {
  const around = text.slice(Math.max(0, offset - ASKING_REACH), offset + ASKING_REACH);
  const isJapanese = kana.test(around);
  const options = {
    place: isJapanese ? japanesePlace : chinesePlace,
    isAsking: !isJapanese && asking.test(around),
  };
  const found: Found[] = [];
  let stretch: Word[] = [];
  const words = wordsOf(run, offset);
  for (const [at, word] of words.entries()) {
    const next = words[at + 1]?.text ?? '';
    const isWithin = stretch.length > 0 && inNames.test(word.text) && options.place.test(next);
    const isBorder =
      !isWithin && (isCommon(word.text) || (isJapanese && hiraganaOnly.test(word.text)));
    // 酒店 alone says nothing, 友谊酒店 is a name.
    const isEnding = isBorder && stretch.length > 0 && options.place.test(word.text);
    if (!isBorder || isEnding) stretch.push(word);
    if (isBorder || stretch.length === STRETCH_WORDS) {
      found.push(...flush(text, stretch, options));
      stretch = [];
    }
  }
  return [...found, ...flush(text, stretch, options)];
}

const title = /《([^《》\n]{1,60})》/gu;

/** Names of places and institutions in Chinese and Japanese, and words that say more than others (weak). */
function findHanNames(text: string): Found[] {
  const titles = findAll(text, title, (match) => ({
    kind: 'name' as const,
    start: match.index + 1,
    end: match.index + 1 + (match[1] ?? '').length,
    readings: [plainText(match[1] ?? '')],
  }));
  const names: Found[] = [];
  for (const match of text.matchAll(easternRun))
    if (han.test(match[0])) names.push(...inRun(text, match[0], match.index));
  return [...titles, ...names];
}

const koreanName =
  /(?:이름은|성함은|이름이|저는|나는)\s([\p{sc=Hangul}]{2,4}|[A-Z][a-z]{1,20})(?=(?:이고|고|이야|야|이에요|예요|입니다|이라고|라고)(?![\p{sc=Hangul}]))/gu;

function findKoreanNames(text: string): Found[] {
  const places = findAll(text, koreanPlace, (match) =>
    koreanCommon.has(match[1] ?? '') || (match[1] ?? '').length < 3
      ? undefined
      : wholeMatch(match, 'name', [plainText(match[1] ?? '')]),
  );
  const persons = findAll(text, koreanName, (match): Found => {
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
export const findEasternNames = (text: string): Found[] => [
  ...(han.test(text) || kana.test(text) ? findHanNames(text) : []),
  ...(/\p{sc=Hangul}/u.test(text) ? findKoreanNames(text) : []),
];
