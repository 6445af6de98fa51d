import { cutHead } from './cut.ts';

const blanks = /[\s\p{Cc}\uFFFE\uFFFF]+/gu;
/** Any but a single space: most texts have no other. */
const unusualBlank = /[^\S ]|[\p{Cc}\uFFFE\uFFFF]| {2}/u;
const finalPunctuation: ReadonlySet<string> = new Set(' .!?;:,。！？；：，、…');

/**
 * Text as one line: blanks, line ends and characters that XML has no place for become one space, halves of
 * surrogate pairs (which no store takes) the replacement character.
 */
export function oneLine(text: string): string {
  const whole = text.toWellFormed();
  return (unusualBlank.test(whole) ? whole.replaceAll(blanks, ' ') : whole).trim();
}

/** `oneLine`, cut to `maxCharacters` between two graphemes. */
export const oneShortLine = (text: string, maxCharacters: number): string =>
  cutHead(oneLine(text), maxCharacters).trimEnd();

/** Equal for texts that differ in width, case, blanks or final punctuation alone. Linear. */
export function textKey(text: string): string {
  const line = oneLine(text.normalize('NFKC')).toLowerCase();
  let end = line.length;
  while (end > 0 && finalPunctuation.has(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}
