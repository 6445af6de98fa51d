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
