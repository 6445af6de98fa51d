import { InvalidWriteError } from '../errors.ts';
import type { DocumentFields, Value } from '../ports/ports.ts';
import { checkName, utf8Length } from './names.ts';

/** A value as it lies in a document: a copy of its own, without `undefined`. */
export type StoredValue = null | boolean | number | string | Date | StoredValue[] | StoredFields;

export interface StoredFields {
  [field: string]: StoredValue;
}

/** Firestore: "maximum size of a field value", 1 MiB less 89 bytes. The emulator refuses one byte more. */
const MAX_VALUE_BYTES = 1_048_487;
/** Firestore: "maximum depth of fields in a map or array". */
const MAX_DEPTH = 20;
/** Firestore's timestamps lie within the years 1 to 9999. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Where a value stands, for limits and for messages. `field` is the top one: deeper names may be text of a user. */
interface ValuePlace {
  path: string;
  field: string;
  depth: number;
}

/**
 * A deep copy of `fields` without `undefined` fields.
 * Throws InvalidWriteError for what Firestore cannot hold: an array in an array, a string with a lone
 * surrogate or over 1,048,487 bytes, a reserved or empty name, more than 20 levels, a date outside the
 * years 1 to 9999, or anything that is not a Value. NaN, infinities and -0 are kept.
 */
export function copyFields(fields: DocumentFields, path: string): StoredFields {
  const copy: StoredFields = {};
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    checkName(field, path);
    copy[field] = copyValue(value, { path, field, depth: 0 });
  }
  return copy;
}

/** As {@link copyFields}, for one value. */
export function copyValue(value: Value, place: ValuePlace): StoredValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') return checkString(value, place);
  // The type promises no other, but values often come from parsed JSON or a cast.
  if (typeof value !== 'object') return refuse(place, `a ${typeof value}`);
  return copyObject(value, place);
}

function copyObject(value: Exclude<Value, null> & object, place: ValuePlace): StoredValue {
  if (value instanceof Date) return copyDate(value, place);
  const inner = { ...place, depth: place.depth + 1 };
  if (inner.depth > MAX_DEPTH) return refuse(place, `more than ${MAX_DEPTH} levels`);
  if (isList(value)) {
    return value.map((item) =>
      isList(item) ? refuse(place, 'nested arrays') : copyValue(item, inner),
    );
  }
  if (!isPlainObject(value)) return refuse(place, 'an object of a class');
  const copy: StoredFields = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    checkName(name, place.path);
    copy[name] = copyValue(item, inner);
  }
  return copy;
}

function copyDate(value: Date, place: ValuePlace): Date {
  const time = value.getTime();
  if (!(time >= EARLIEST_MS && time <= LATEST_MS)) return refuse(place, 'a date out of range');
  return new Date(time);
}

function checkString(value: string, place: ValuePlace): string {
  if (!value.isWellFormed()) return refuse(place, 'text with half a surrogate pair');
  const bytes = value.length > MAX_VALUE_BYTES / 3 ? utf8Length(value) : 0;
  if (bytes > MAX_VALUE_BYTES) {
    return refuse(place, `text of ${bytes} bytes; at most ${MAX_VALUE_BYTES}`);
  }
  return value;
}

function refuse(place: ValuePlace, problem: string): never {
  throw new InvalidWriteError({
    path: place.path,
    problem: `${problem} in field ${place.field.slice(0, 80)}`,
  });
}

function isList(value: unknown): value is readonly Value[] {
  return Array.isArray(value);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Object.prototype of any realm has no prototype itself.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
