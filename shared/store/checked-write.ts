import { InvalidWriteError } from '../errors.ts';
import type { Guard, Write } from '../ports/ports.ts';
import { checkDocumentPath, parseFieldPath } from './names.ts';
import { checkDocumentSize, documentSize, valueSize, type Size } from './size.ts';
import { copyFields, copyValue, type StoredFields, type StoredValue } from './stored-value.ts';

/** A write that a store can hold, with copies of the caller's values. */
export type CheckedWrite =
  | { op: 'create'; path: string; fields: StoredFields }
  | { op: 'update'; path: string; set: FieldSetting[]; remove: string[][]; guard: Guard }
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
  const { op, path } = write;
  if (op === 'create') return { op, path, fields: copyFields(write.fields, path) };
  if (op === 'delete') return { op, path, guard: write.guard };
  return checkUpdate(write);
}

function checkUpdate(write: Extract<Write, { op: 'update' }>): CheckedWrite {
  const { path, guard } = write;
  const set: FieldSetting[] = [];
  for (const [field, value] of Object.entries(write.fields)) {
    if (value === undefined) continue;
    const fieldPath = parseFieldPath(field, path);
    const place = { path, field, depth: fieldPath.length - 1 };
    set.push({ fieldPath, value: copyValue(value, place) });
  }
  const remove = (write.remove ?? []).map((field) => parseFieldPath(field, path));
  checkOverlap([...set.map((setting) => setting.fieldPath), ...remove], path);
  return { op: 'update', path, set, remove, guard };
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
