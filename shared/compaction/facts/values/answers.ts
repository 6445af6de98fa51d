import { fillers } from '../languages/common-words.ts';
import type { FactMatch } from '../index/fact-match.ts';
import { findMatches } from '#shared/text/matches.ts';
import { plainText } from '#shared/text/plain-text.ts';

/** A longer answer is a sentence of its own, and no name or value. */
const ANSWER_CHARACTERS = 48;
/** Names and values have seldom more words. */
const ANSWER_WORDS = 4;
const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'.&-]{0,40}/gu;
const particle =
  /(?:이에요|예요|입니다|이요|이야|으로|로|요|야|です|だよ|でお願いします|吧|就行)$/u;

/** Scripts without blanks: what has a grammar of its own, or is long, is a sentence. */
const isEasternSentence = (value: string): boolean =>
  /\p{sc=Hiragana}/u.test(value) || /[\p{sc=Han}\p{sc=Katakana}ー]{13}/u.test(value);

/** No, fine, thanks, that is all: with what speakers of Chinese, Japanese and Korean put behind it. */
const courtesy =
  /^(?:(?:没有?|不用|不要|不需要|不必|没事|没问题|没关系|好|行|可以|是|对|嗯|哦|知道|明白|了解|谢谢|多谢|感谢|麻烦|辛苦|再见|拜拜|結構です|大丈夫(?:です)?|ないです|ありません|了解です|わかりました|없어요|없습니다|괜찮아요|괜찮습니다|알겠습니다|알겠어요|고마워요|됐어요)(?:您|你|了|啦|的|吧|呢|哈|呀|啊|哦|嘛|就){0,4}){1,3}$/u;

/** Whether what the model said last asks for something. */
export const asksSomething = (text: string): boolean =>
  /[?？][^?？\n]{0,160}$/u.test(text.trimEnd());

/**
 * The value of a short answer to a question: what is left of it without "yes", "please", "it is".
 * Heuristic: at most four words; whole phrases of feeling ("that was fun") may pass for values.
 */
export function findAnswer(text: string): FactMatch[] {
  const trimmed = text.trim();
  if (
    trimmed.length > ANSWER_CHARACTERS ||
    trimmed.includes('\n') ||
    /[?？。]/.test(trimmed.replace(/。$/, ''))
  )
    return [];
  const words = findMatches(text, word);
  let from = 0;
  let to = words.length;
  const isFiller = (match: RegExpExecArray | undefined): boolean =>
    match !== undefined &&
    (fillers.has(match[0].toLowerCase().replace(/[.'-]+$/, '')) || courtesy.test(match[0]));
  while (from < to && isFiller(words[from])) from += 1;
  while (to > from && isFiller(words[to - 1])) to -= 1;
  const [first, last] = [words[from], words[to - 1]];
  if (first === undefined || last === undefined || to - from > ANSWER_WORDS) return [];
  // A verb or a pronoun within: a sentence rather than a value.
  if (
    words
      .slice(from, to)
      .some((match) => /^(?:i|you|it|is|was|are|were|that|this)$/i.test(match[0]))
  )
    return [];
  const written = last[0].replace(/[.'-]+$/, '').replace(particle, '');
  const end = last.index + written.length;
  if (end - first.index < 2) return [];
  const value = text.slice(first.index, end);
  if (!/\p{L}/u.test(value) || isEasternSentence(value)) return [];
  return [{ kind: 'name', start: first.index, end, readings: [plainText(value)] }];
}
