import type { StoredValue } from '#shared/store/checked-write.ts';

/**
 * Firestore's order of values: null, booleans, NaN, numbers, dates, text (by UTF-8 bytes), arrays, maps.
 * Below zero when `a` comes first, 0 when a query takes them for equal (0 and -0, NaN and NaN).
 */
export function compareValues(a: StoredValue, b: StoredValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  if (isMap(a) && isMap(b)) return compareLists(sortedEntries(a), sortedEntries(b));
  const ranks = typeRank(a) - typeRank(b);
  return ranks !== 0 ? ranks : compareScalars(a, b);
}

/** Values of one rank can stand on the two sides of `<`; no inequality crosses ranks. */
export function typeRank(value: StoredValue): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'number') return Number.isNaN(value) ? 2 : 3;
  if (value instanceof Date) return 4;
  if (typeof value === 'string') return 5;
  return Array.isArray(value) ? 6 : 7;
}

/** Order of UTF-8 bytes, which is that of code points: JavaScript's own puts 😀 before U+FFEE. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const difference = codePointRank(a.charCodeAt(index)) - codePointRank(b.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Moves the surrogates, which stand for the highest code points, behind U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd8_00) return unit;
  return unit < 0xe0_00 ? unit + 0x20_00 : unit - 0x8_00;
}

/** Whether writing `b` over `a` changes nothing: as stored, so 0 differs from -0, and NaN is NaN. */
export function isSameValue(a: StoredValue, b: StoredValue): boolean {
  if (Object.is(a, b)) return true;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (Array.isArray(a) && Array.isArray(b)) return isSameList(a, b);
  if (!isMap(a) || !isMap(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [left, right] = [a[name], Object.hasOwn(b, name) ? b[name] : undefined];
      return left !== undefined && right !== undefined && isSameValue(left, right);
    })
  );
}

export function isMap(value: StoredValue | undefined): value is { [field: string]: StoredValue } {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

function isSameList(a: readonly StoredValue[], b: readonly StoredValue[]): boolean {
  return a.length === b.length && compareEach(a, b, (x, y) => (isSameValue(x, y) ? 0 : 1)) === 0;
}

function compareLists(a: readonly StoredValue[], b: readonly StoredValue[]): number {
  const difference = compareEach(a, b, compareValues);
  return difference === 0 ? a.length - b.length : difference;
}

function compareEach(
  a: readonly StoredValue[],
  b: readonly StoredValue[],
  compare: (x: StoredValue, y: StoredValue) => number,
): number {
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 0;
    const difference = compare(left, right);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Name, value, name, value, … by name: maps compare entry by entry. */
function sortedEntries(map: { [field: string]: StoredValue }): StoredValue[] {
  return Object.entries(map)
    .toSorted(([a], [b]) => compareText(a, b))
    .flat();
}

function compareScalars(a: StoredValue, b: StoredValue): number {
  if (Number.isNaN(a) || a === b) return 0;
  return Number(a) < Number(b) ? -1 : 1;
}
