/** From a full-width sign to its plain one, in Unicode. */
const FULL_WIDTH_OFFSET = 0xfee0;

/** Signs with a plain twin, each one UTF-16 unit like its twin. */
const twins: ReadonlyMap<string, string> = new Map([
  ['\u00a0', ' '],
  ['\u202f', ' '],
  ['\u2009', ' '],
  ['\u3000', ' '],
  ['\u2010', '-'],
  ['\u2011', '-'],
  ['\u2012', '-'],
  ['\u2013', '-'],
  ['\u2212', '-'],
  ['\u2018', "'"],
  ['\u2019', "'"],
  ['\u201c', '"'],
  ['\u201d', '"'],
]);
const foldable =
  /[\uff01-\uff5e\u00a0\u202f\u2009\u3000\u2010-\u2013\u2212\u2018\u2019\u201c\u201d]/g;

/** Everything that some reader takes for the end of a line. */
export const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;

const beyondAscii = /[\u0080-\uffff]/;

/** Whether a text has plain characters alone; most of what folding and normalising do is spared then. */
export const isAscii = (text: string): boolean => !beyondAscii.test(text);

/**
 * A text in which full-width figures, letters and signs, curly quotes and long dashes are the plain
 * ones, and lone halves of surrogate pairs are U+FFFD. As long as `text`: every index means the same.
 */
export function foldWidth(text: string): string {
  if (isAscii(text)) return text;
  return text
    .toWellFormed()
    .replaceAll(
      foldable,
      (sign) => twins.get(sign) ?? String.fromCharCode(sign.charCodeAt(0) - FULL_WIDTH_OFFSET),
    );
}

/** Any but a single space: most texts have no other. */
const unusualBlank = /[^\S ]| {2}/;

/** What texts are compared in: folded, NFKC, lower case, one blank for several. */
export function plainText(text: string): string {
  const folded = isAscii(text) ? text : foldWidth(text).normalize('NFKC');
  const lower = folded.toLowerCase();
  return unusualBlank.test(lower) ? lower.replaceAll(/\s+/g, ' ') : lower;
}

/** Letters of scripts that put no blanks between words. */
export const unspacedScript = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}ー々`;

/** Joins that letters and emoji need, such as those of "👩‍🚀" and of Persian. */
const JOINS = String.raw`(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d\ufe0f]`;

/** Source of a pattern (flag `u`) for what nobody sees of a text: marks that turn its direction, and what hides in it. */
export const HIDDEN_CHARACTER = String.raw`(?!${JOINS})[\p{Cf}\p{Default_Ignorable_Code_Point}]`;

const HIDDEN = new RegExp(HIDDEN_CHARACTER, 'gu');

/** A text as it is seen. */
export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, '');

const wideLetter = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;

/** How many letters of a text stand for a syllable or a word each: they say as much as several others. */
export const countWideLetters = (text: string): number => text.match(wideLetter)?.length ?? 0;
