import { headOf } from '../../text-cut.ts';

const blanks = /[\s\p{Cc}\uFFFE\uFFFF]+/gu;
const finalPunctuation: ReadonlySet<string> = new Set(' .!?;:,。！？；：，、…');

/**
 * Text as one line: blanks, line ends and characters that XML has no place for become one space, halves of
 * surrogate pairs (which no store takes) the replacement character.
 */
export const oneLine = (text: string): string => text.toWellFormed().replaceAll(blanks, ' ').trim();

/** `oneLine`, cut to `maxCharacters` between two graphemes. */
export const oneShortLine = (text: string, maxCharacters: number): string =>
  headOf(oneLine(text), maxCharacters).trimEnd();

/** Equal for texts that differ in width, case, blanks or final punctuation alone. Linear. */
export function textKey(text: string): string {
  const line = oneLine(text.normalize('NFKC')).toLowerCase();
  let end = line.length;
  while (end > 0 && finalPunctuation.has(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}
