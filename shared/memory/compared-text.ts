import { graphemes } from '../text/cut.ts';

const singleQuote = /[‘’‚‛`´]/g;
const doubleQuote = /[“”„‟«»「」『』]/g;

/** A text for comparison: width, case, quotation marks and runs of white space make no difference. */
export const comparedText = (text: string): string =>
  text
    .replace(singleQuote, "'")
    .replace(doubleQuote, '"')
    .normalize('NFKC')
    .toLowerCase()
    // The form of sigma depends on its place in a word, which a piece of a text does not know.
    .replaceAll('ς', 'σ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** From `start` to `end`, in UTF-16 units. */
export interface TextSpan {
  start: number;
  end: number;
}

/** The compared text of every grapheme, and where each of its units comes from. */
function comparedUnits(text: string): { compared: string; from: TextSpan[] } {
  let compared = '';
  const from: TextSpan[] = [];
  for (const { segment, index } of graphemes().segment(text)) {
    const isBlank = segment.trim() === '';
    if (isBlank && (compared === '' || compared.endsWith(' '))) continue;
    const unit = isBlank ? ' ' : comparedText(segment);
    compared += unit;
    for (let i = 0; i < unit.length; i++) from.push({ start: index, end: index + segment.length });
  }
  return { compared, from };
}

/** Where `words`, a compared text, stand in a text for the first time; undefined where they do not. */
export function findCompared(text: string, words: string): TextSpan | undefined {
  // Most texts do not have them, and telling so needs no places.
  if (words === '' || !comparedText(text).includes(words)) return undefined;
  const { compared, from } = comparedUnits(text);
  const at = compared.indexOf(words);
  const [first, last] = [from[at], from[at + words.length - 1]];
  return first && last && { start: first.start, end: last.end };
}
