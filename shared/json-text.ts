/** Line ends that JSON leaves as they are: next line, line separator, paragraph separator. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * JSON that is one line for every reader. The lines of Swift (`URLSession.AsyncBytes.lines`, which Firebase's
 * iOS SDK reads its streams with) and those of Python end at U+0085, U+2028 and U+2029, too, those of Node's
 * readline at the last two.
 */
export const singleLineJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(LINE_ENDS, escaped);

/** Object keys in code-unit order; everything else as JSON.stringify has it. */
const inOrder = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/**
 * JSON whose bytes depend on what `value` says alone, not on the order in which its keys were set: for
 * hashes and signatures. Keys with `undefined` are left out, dates are their ISO text; a value that JSON
 * has no form for is `null`.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, inOrder) ?? 'null';
