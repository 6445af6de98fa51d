const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first expected item that does not come, in the order of the list; others may stand between. */
function findMissing(actual: unknown, expected: readonly unknown[], path: string) {
  if (!Array.isArray(actual)) return `${path} is ${show(actual)}, not a list`;
  let from = 0;
  for (const [index, item] of expected.entries()) {
    const found = actual.findIndex(
      (each, place) => place >= from && findDifference(each, item, path) === undefined,
    );
    if (found < 0) return `${path}[${index}], ${show(item)}, is not in ${show(actual)}`;
    from = found + 1;
  }
  return undefined;
}

/**
 * What of `expected` is not in `actual`, by Genkit's rules: objects may have more fields, lists more items in between.
 * Undefined when all is there.
 */
export function findDifference(
  actual: unknown,
  expected: unknown,
  path: string,
): string | undefined {
  if (expected === undefined || expected === null) return undefined;
  if (Array.isArray(expected)) return findMissing(actual, expected, path);
  if (!isObject(expected))
    return actual === expected ? undefined : `${path} is ${show(actual)}, not ${show(expected)}`;
  if (!isObject(actual)) return `${path} is ${show(actual)}, not an object`;
  for (const [key, value] of Object.entries(expected)) {
    const difference = findDifference(actual[key], value, `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
