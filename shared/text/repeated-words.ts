import { splitSentences } from './sentences.ts';
import { countWideLetters } from './wide-letters.ts';

/** Shorter statements say what many turns say (`Yes, please.`); after `plain`. */
const CHARACTERS_MIN = 12;
/** Of a script that needs fewer characters for the same. */
const DENSE_CHARACTERS_MIN = 6;
/** A turn may hold megabytes of tool output; what is said after this is not looked at. */
const CHARACTERS_MAX = 1_000_000;
const SENTENCES_MAX = 5_000;
const TOKENS_MAX = 5_000;

/** Words alone, so that marks, cases and blanks make no difference. */
const plain = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}\p{S}]+/gu, ' ')
    .trim();

const isTelling = (words: string) =>
  words.length >= (countWideLetters(words) > 0 ? DENSE_CHARACTERS_MIN : CHARACTERS_MIN);

const token = /[\p{L}\p{N}][\p{L}\p{N}._@:/+-]{4,}[\p{L}\p{N}]/gu;
const date = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:t[\d:.]+z?)?$/u;

const lowered = (text: string) => text.normalize('NFKC').toLowerCase();

/** Order numbers, e-mails, phone numbers, ids and links: words with a digit or an `@` that are no dates. */
const distinctiveTokens = (text: string): string[] =>
  [...lowered(text).matchAll(token)]
    .map(([word]) => word)
    .filter((word) => /[\p{N}@]/u.test(word) && !date.test(word));

/**
 * Whether a statement repeats what `said` says: it holds one of its sentences, is held by it word for
 * word, or has one of its identifiers. A heuristic for statements whose sources do not tell: it misses
 * paraphrases, and sentences of fewer than 12 characters (6 where characters are words); it also finds
 * what another turn says too.
 */
export function repeats(said: readonly string[]): (statement: string) => boolean {
  const text = said.join('\n').slice(0, CHARACTERS_MAX);
  const words = plain(text);
  const sentences = [...new Set(splitSentences(text).map(plain))]
    .filter(isTelling)
    .slice(0, SENTENCES_MAX);
  const tokens = [...new Set(distinctiveTokens(text))].slice(0, TOKENS_MAX);
  const known = new Map<string, boolean>();
  const find = (statement: string): boolean => {
    const stated = plain(statement);
    if (isTelling(stated) && words.includes(stated)) return true;
    if (sentences.some((sentence) => stated.includes(sentence))) return true;
    const raw = lowered(statement);
    return tokens.some((each) => raw.includes(each));
  };
  return (statement) => {
    const found = known.get(statement) ?? find(statement);
    known.set(statement, found);
    return found;
  };
}
