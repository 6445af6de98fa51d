/** Line ends that JSON leaves as they are: next line, line separator, paragraph separator. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * JSON that is one line for every reader. The lines of Swift (`URLSession.AsyncBytes.lines`, which Firebase's
 * iOS SDK reads its streams with) and those of Python end at U+0085, U+2028 and U+2029, too.
 */
export const singleLineJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(LINE_ENDS, escaped);
