import { isAscii, plainText } from '#shared/text/plain-text.ts';
import { unspacedScript } from '#shared/compaction/facts/speech/content-words.ts';

/** Texts in which phrases are looked for. */
export interface Phrases {
  plain: string;
  /** Words of spaced scripts, and pairs of characters of others: what cannot be held is seen at once. */
  words: ReadonlySet<string>;
}

const word = /[\p{L}\p{M}\p{N}]+/gu;
const unspaced = new RegExp(`[${unspacedScript}]`, 'u');
const spacedPart = new RegExp(`[^${unspacedScript}]+`, 'gu');
/** An underscore joins words that count alone: 20231 is in ref_20231. */
const wordCharacter = /[\p{L}\p{M}\p{N}]/u;

function addWords(plain: string, words: Set<string>): void {
  const isPlain = isAscii(plain);
  for (const found of plain.match(word) ?? []) {
    if (isPlain || !unspaced.test(found)) {
      words.add(found);
      continue;
    }
    for (let at = 0; at + 1 < found.length; at++) words.add(found.slice(at, at + 2));
    // iPhoneを: the word stands by itself as well.
    for (const part of found.match(spacedPart) ?? []) words.add(part);
  }
}

/** Reads a plain text once. */
export function readPhrases(plain: string): Phrases {
  const words = new Set<string>();
  addWords(plain, words);
  return { plain, words };
}

/** Those of several texts together; no phrase goes over the border of two. */
export function joinPhrases(all: readonly Phrases[]): Phrases {
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  const words = new Set<string>();
  for (const one of all) for (const found of one.words) words.add(found);
  return { plain: all.map(({ plain }) => plain).join('\n'), words };
}

/** Reads texts once. */
export const toPhrases = (texts: readonly string[]): Phrases =>
  joinPhrases(texts.map((text) => readPhrases(plainText(text))));

function mayHold({ words }: Phrases, phrase: string): boolean {
  const isPlain = isAscii(phrase);
  return (phrase.match(word) ?? []).every((found) =>
    isPlain || !unspaced.test(found)
      ? words.has(found)
      : found.length === 1 || words.has(found.slice(0, 2)),
  );
}

/** Whether letters of a spaced script go on over a border of the phrase. */
function isOpen(inner: string | undefined, outer: string | undefined): boolean {
  if (inner === undefined || outer === undefined) return false;
  const isSpaced = (character: string): boolean =>
    wordCharacter.test(character) && !unspaced.test(character);
  return isSpaced(inner) && isSpaced(outer);
}

/** Whether the texts say the phrase: same letters but for case, width and blanks, words whole. */
export function holdsPhrase(phrases: Phrases, phrase: string): boolean {
  const wanted = plainText(phrase).trim();
  if (wanted === '') return true;
  if (!mayHold(phrases, wanted)) return false;
  const { plain } = phrases;
  for (let at = plain.indexOf(wanted); at !== -1; at = plain.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if (!isOpen(wanted[0], plain[at - 1]) && !isOpen(wanted.at(-1), plain[end])) return true;
  }
  return false;
}
