import { InvalidWriteError } from '#shared/lib/errors.ts';

/** Firestore's limits of a document id, a collection id and a field name, in bytes of UTF-8. */
const MAX_NAME_BYTES = 1_500;
/** Firestore's limit of a whole document name. */
const MAX_PATH_BYTES = 6 * 1_024;
const RESERVED = /^__.*__$/su;

/**
 * Throws InvalidWriteError unless `name` can be a field name, document id or collection id: not empty, not
 * `__reserved__`, whole code points, at most 1,500 bytes.
 */
export function checkName(name: string, path: string): void {
  const problem = problemOfName(name);
  if (problem !== undefined) throw new InvalidWriteError({ path: path.slice(0, 200), problem });
}

/** Throws InvalidWriteError unless `path` names a document: an even number of valid segments. */
export const checkDocumentPath = (path: string): void => checkPath(path, 0);

/** Throws InvalidWriteError unless `path` names a collection: an odd number of valid segments. */
export const checkCollectionPath = (path: string): void => checkPath(path, 1);

function checkPath(path: string, remainder: number): void {
  const segments = path.split('/');
  for (const segment of segments) {
    checkName(segment, path);
    if (segment === '.' || segment === '..') throw refusedPath(path, 'a segment of dots');
  }
  if (segments.length % 2 !== remainder) {
    throw refusedPath(path, remainder === 0 ? 'not a document path' : 'not a collection path');
  }
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw refusedPath(path, `over ${MAX_PATH_BYTES} bytes`);
}

/** The segments of a dotted field path. Throws InvalidWriteError if one of them is no field name. */
export function parseFieldPath(fieldPath: string, path: string): string[] {
  const segments = fieldPath.split('.');
  for (const segment of segments) checkName(segment, path);
  return segments;
}

function problemOfName(name: string): string | undefined {
  if (name === '') return 'an empty name';
  if (RESERVED.test(name)) return 'a reserved name (__…__)';
  if (!name.isWellFormed()) return 'a name with half a surrogate pair';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `a name over ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

function refusedPath(path: string, problem: string): InvalidWriteError {
  return new InvalidWriteError({ path: path.slice(0, 200), problem });
}

/** Id of a document: the last part of its path. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
