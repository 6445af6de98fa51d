import { headOf, tailOf } from '../../text-cut.ts';

/** Letters of scripts that put blanks between words; in others a text may be cut anywhere. */
const spaced = String.raw`[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]`;
const wordAtStart = new RegExp(`^${spaced}+`, 'u');
const wordAtEnd = new RegExp(`(?<!${spaced})${spaced}+$`, 'u');
const isInWord = new RegExp(`^${spaced}{2}$`, 'u');

function wordsBefore(text: string, characters: number): string {
  const cut = tailOf(text, characters);
  const cutAt = text.length - cut.length;
  const isCutInWord = isInWord.test(text.slice(Math.max(0, cutAt - 1), cutAt + 1));
  return (isCutInWord ? cut.replace(wordAtStart, '') : cut).trimStart();
}

function wordsAfter(text: string, characters: number): string {
  const cut = headOf(text, characters);
  const isCutInWord = isInWord.test(text.slice(cut.length - 1, cut.length + 1));
  return (isCutInWord ? cut.replace(wordAtEnd, '') : cut).trimEnd();
}

/**
 * The words of `sentence` around `fact`, at most about `characters` long and none of them cut: part of the
 * sentence, exactly. A short sentence stays whole; undefined when the fact is written otherwise there.
 */
export function shortQuote(sentence: string, fact: string, characters: number): string | undefined {
  if (sentence.length <= characters) return sentence;
  const at = sentence.toLowerCase().indexOf(fact.toLowerCase());
  if (at === -1) return undefined;
  const side = Math.max(0, Math.floor((characters - fact.length) / 2));
  const end = at + fact.length;
  const before = wordsBefore(sentence.slice(0, at), side);
  const after = wordsAfter(sentence.slice(end), side);
  return `${before}${sentence.slice(at, end)}${after}`;
}
