const unspaced = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]`;
const sign = String.raw`(?!${unspaced})[\p{L}\p{M}\p{N}]`;
/** Where a word goes on, in scripts that put blanks between words, or a figure: `5` is no part of `500`, nor of `5.50`. */
const goesOn = new RegExp(
  String.raw`(?<=${sign})(?=${sign})|(?<=\p{N}[.,:/]?)(?=[.,:/]?\p{N})`,
  'uy',
);

function isInWord(text: string, at: number): boolean {
  goesOn.lastIndex = at;
  return goesOn.test(text);
}

/** Whole words of `said` that are `words` but for the case of their letters; undefined where there are none. */
function wholeWords(said: string, words: string): string | undefined {
  if (words === '') return undefined;
  const lower = said.toLowerCase();
  // A letter such as İ is longer in lower case: places would not be the same.
  const isAligned = lower.length === said.length;
  const [all, wanted] = isAligned ? [lower, words.toLowerCase()] : [said, words];
  for (let at = all.indexOf(wanted); at !== -1; at = all.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if (!isInWord(said, at) && !isInWord(said, end)) return said.slice(at, end);
  }
  return undefined;
}

const finalStop = /[.!。！]+$/u;

/**
 * The words of `said` that `text` repeats, exactly as they stand there: whole words, in whatever case and with or without
 * the stop at the end. Undefined where it says anything else. Both on one line.
 */
export const restatedWords = (said: string, text: string): string | undefined =>
  wholeWords(said, text) ?? wholeWords(said, text.replace(finalStop, ''));
