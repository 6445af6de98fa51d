import { InvalidWriteError } from '#shared/lib/errors.ts';
import type { Guard, Write, DocumentFields, Value } from '../ports/ports.ts';
import { checkDocumentPath, parseFieldPath, checkName } from './names.ts';

/** A write that a store can hold, with copies of the caller's values. */
export type CheckedWrite =
  | { op: 'create'; path: string; fields: StoredFields }
  | { op: 'update'; path: string; set: FieldSetting[]; remove: string[][]; guard: Guard }
  | { op: 'merge'; path: string; set: FieldSetting[]; remove: string[][]; guard?: undefined }
  | { op: 'delete'; path: string; guard: Guard | undefined };

export interface FieldSetting {
  fieldPath: string[];
  value: StoredValue;
}

/** Ours, kept from the time when Firestore had the same limit. */
const MAX_COMMIT_WRITES = 500;
/**
 * The emulator answers RESOURCE_EXHAUSTED above 4 MiB, which clients retry for minutes; Firestore itself
 * takes 10 MiB. Half a MiB is left for what the estimate below does not see.
 */
const MAX_COMMIT_BYTES = 3.5 * 1_024 * 1_024;
/** Bytes on the wire beside names and values: tags and lengths of a value, frame and full name of a write. */
const WIRE_BYTES_PER_VALUE = 12;
const WIRE_BYTES_PER_WRITE = 128;

/**
 * Checks a commit before it is sent: every store refuses the same writes, and none retries what can never
 * succeed. The result shares nothing with `writes`.
 * Throws InvalidWriteError: over 500 writes or 3.5 MiB, a document named twice, a document over 1 MiB,
 * a path, name or value that Firestore cannot hold, field paths that overlap.
 * The size of a document after an update is known to the store alone, which checks it again.
 */
export function checkWrites(writes: readonly Write[]): CheckedWrite[] {
  const seen = new Set<string>();
  const first = writes[0]?.path ?? '';
  if (writes.length > MAX_COMMIT_WRITES) {
    throw refused(first, `a commit of ${writes.length} writes; at most ${MAX_COMMIT_WRITES}`);
  }
  let commitBytes = 0;
  const checked = writes.map((write) => {
    if (seen.has(write.path)) throw refused(write.path, 'named twice in one commit');
    seen.add(write.path);
    const result = checkWrite(write);
    commitBytes += wireBytes(result);
    return result;
  });
  if (commitBytes > MAX_COMMIT_BYTES) {
    throw refused(first, `a commit of ${commitBytes} bytes; at most ${MAX_COMMIT_BYTES}`);
  }
  return checked;
}

function checkWrite(write: Write): CheckedWrite {
  checkDocumentPath(write.path);
  const { path } = write;
  switch (write.op) {
    case 'create':
      return { op: 'create', path, fields: copyFields(write.fields, path) };
    case 'delete':
      return { op: 'delete', path, guard: write.guard };
    case 'update':
      return { op: 'update', path, ...checkChanges(write), guard: write.guard };
    case 'merge':
      return { op: 'merge', path, ...checkChanges(write) };
  }
}

function checkChanges(write: Extract<Write, { op: 'update' | 'merge' }>): {
  set: FieldSetting[];
  remove: string[][];
} {
  const { path } = write;
  const set: FieldSetting[] = [];
  for (const [field, value] of Object.entries(write.fields)) {
    if (value === undefined) continue;
    const fieldPath = parseFieldPath(field, path);
    const place = { path, field, depth: fieldPath.length - 1 };
    set.push({ fieldPath, value: copyValue(value, place) });
  }
  const remove = (write.remove ?? []).map((field) => parseFieldPath(field, path));
  checkOverlap([...set.map((setting) => setting.fieldPath), ...remove], path);
  const nested = [...set.map(({ fieldPath }) => fieldPath), ...remove].find(
    ({ length }) => length > 1,
  );
  if (write.op === 'merge' && nested)
    throw refused(path, `a merge of ${nested.join('.')}, which is a part of a field`);
  return { set, remove };
}

/** `a` and `a.b` in one update contradict each other. */
function checkOverlap(fieldPaths: readonly string[][], path: string): void {
  const whole = new Set<string>();
  for (const fieldPath of fieldPaths) {
    const key = fieldPath.join('.');
    if (whole.has(key)) throw refused(path, 'a field named twice in one update');
    whole.add(key);
  }
  for (const fieldPath of fieldPaths) {
    for (let length = 1; length < fieldPath.length; length += 1) {
      if (whole.has(fieldPath.slice(0, length).join('.'))) {
        throw refused(path, 'a field and a part of it in one update');
      }
    }
  }
}

/** What the write takes of a commit. Throws InvalidWriteError when its document alone is too large. */
function wireBytes(write: CheckedWrite): number {
  const size = writeSize(write);
  checkDocumentSize(write.path, size.bytes);
  return size.bytes + size.values * WIRE_BYTES_PER_VALUE + WIRE_BYTES_PER_WRITE;
}

function writeSize(write: CheckedWrite): Size {
  if (write.op === 'create') return documentSize(write.path, write.fields);
  const total = documentSize(write.path, {});
  if (write.op === 'delete') return total;
  for (const { fieldPath, value } of write.set) {
    const size = valueSize(value);
    total.bytes += size.bytes + fieldPath.join('.').length + 1;
    total.values += size.values;
  }
  return total;
}

function refused(path: string, problem: string): InvalidWriteError {
  return new InvalidWriteError({ path, problem });
}

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
function copyFields(fields: DocumentFields, path: string): StoredFields {
  return copyMap(fields, path, (field) => ({ path, field, depth: 0 }));
}

function copyMap(
  fields: DocumentFields,
  path: string,
  placeOf: (name: string) => ValuePlace,
): StoredFields {
  const copy: StoredFields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    checkName(name, path);
    copy[name] = copyValue(value, placeOf(name));
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
  return copyMap(value, place.path, () => inner);
}

function copyDate(value: Date, place: ValuePlace): Date {
  const time = value.getTime();
  if (!(time >= EARLIEST_MS && time <= LATEST_MS)) return refuse(place, 'a date out of range');
  return new Date(time);
}

function checkString(value: string, place: ValuePlace): string {
  if (!value.isWellFormed()) return refuse(place, 'text with half a surrogate pair');
  const bytes = value.length > MAX_VALUE_BYTES / 3 ? Buffer.byteLength(value) : 0;
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

/** Firestore: "maximum size of a document", 1 MiB. */
const MAX_DOCUMENT_BYTES = 1_048_576;
/** What Firestore adds to each document and to each map. */
const CONTAINER_BYTES = 32;

interface Size {
  /** By Firestore's published rules (names, values, 32 for each map). */
  bytes: number;
  /** How many values were counted, containers included: each costs some more bytes on the wire. */
  values: number;
}

/**
 * Size of a document by Firestore's "storage size calculations". The emulator was seen to agree to the
 * byte for text fields (November 2026).
 */
export function documentSize(path: string, fields: StoredFields): Size {
  const size: Size = { bytes: pathBytes(path), values: 0 };
  addFields(size, fields);
  return size;
}

/** Size of one value; a lower bound for the document that will hold it. */
function valueSize(value: StoredValue): Size {
  const size: Size = { bytes: 0, values: 0 };
  addValue(size, value);
  return size;
}

/** Throws InvalidWriteError when a document of this size would be over 1 MiB. */
export function checkDocumentSize(path: string, bytes: number): void {
  if (bytes <= MAX_DOCUMENT_BYTES) return;
  throw new InvalidWriteError({
    path,
    problem: `a document of ${bytes} bytes; at most ${MAX_DOCUMENT_BYTES}`,
  });
}

function pathBytes(path: string): number {
  // Each segment counts one byte more, the separators themselves nothing; 16 for the whole name.
  return Buffer.byteLength(path) + 1 + 16;
}

function addFields(size: Size, fields: StoredFields): void {
  size.bytes += CONTAINER_BYTES;
  for (const [name, value] of Object.entries(fields)) {
    size.bytes += Buffer.byteLength(name) + 1;
    addValue(size, value);
  }
}

function addValue(size: Size, value: StoredValue): void {
  size.values += 1;
  if (value === null || typeof value === 'boolean') size.bytes += 1;
  else if (typeof value === 'number' || value instanceof Date) size.bytes += 8;
  else if (typeof value === 'string') size.bytes += Buffer.byteLength(value) + 1;
  else if (Array.isArray(value)) for (const item of value) addValue(size, item);
  else addFields(size, value);
}
