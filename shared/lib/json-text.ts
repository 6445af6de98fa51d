import { JSON_DEPTH_MAX } from './limits.ts';

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

/*
 * JSON that others wrote and that is stored. It is read again with every later message, by code that goes down into
 * it and by a model that takes no half characters. So it is bounded once, before it is stored: what a client sends is
 * refused with `jsonFault`, what a model, a tool or a hook gives is mended with `boundedJson`. Bytes are bounded where
 * they are counted.
 */

/** What stands in the place of what is nested too deep. */
export const LEFT_OUT = `[left out: nested deeper than ${JSON_DEPTH_MAX} levels]`;

/** A key that would reach the prototype of whatever copies the object later. */
const PROTOTYPE = '__proto__';

/**
 * What is wrong with a value for which `levels` of arrays and objects are allowed, as the end of a sentence that
 * begins with its field; undefined: nothing. Never goes deeper than `levels`.
 */
export function jsonFault(value: unknown, levels = JSON_DEPTH_MAX): string | undefined {
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : 'holds half of a surrogate pair; send valid Unicode';
  if (typeof value === 'number')
    return Number.isFinite(value)
      ? undefined
      : 'holds a number that is too large; send it as a text';
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`;
  for (const [key, item] of Object.entries(value)) {
    const fault = key === PROTOTYPE ? 'has a key `__proto__`; remove it' : jsonFault(key, levels);
    const inner = fault ?? jsonFault(item, levels - 1);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

const boundedKey = (key: string) => (key === PROTOTYPE ? 'proto' : key.toWellFormed());

function mended(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return LEFT_OUT;
  if (Array.isArray(value)) return value.map((item) => mended(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [boundedKey(key), mended(item, levels - 1)]),
  );
}

/**
 * A value of JSON as it may be stored, the same where nothing is wrong with it: what is nested deeper than `levels` is
 * replaced by a note, half characters by U+FFFD, numbers beyond all bounds by null.
 */
export const boundedJson = (value: unknown, levels = JSON_DEPTH_MAX): unknown =>
  jsonFault(value, levels) === undefined ? value : mended(value, levels);
