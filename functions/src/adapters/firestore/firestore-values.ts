import type { DocumentSnapshot } from '@google-cloud/firestore';
import type { DocumentFields, StoredDocument, Value } from '#shared/ports/ports.ts';

/** The class that the SDK gives for dates; handed in, so that this file does not load the SDK. */
interface TimestampClass {
  Timestamp: new (...parts: never[]) => { toDate(): Date };
}

/** A document as the SDK read it, `undefined` where there is none. */
export function storedDocument(
  sdk: TimestampClass,
  snapshot: DocumentSnapshot,
): StoredDocument | undefined {
  const fields = snapshot.data();
  if (fields === undefined || snapshot.updateTime === undefined) return undefined;
  return {
    path: snapshot.ref.path,
    fields: documentFields(sdk, fields),
    updateTime: toUpdateTime(snapshot.updateTime),
  };
}

/** A time of Firestore as the opaque update time of the port, nanoseconds kept. */
export function toUpdateTime(time: { seconds: number; nanoseconds: number }): string {
  return `${time.seconds}.${time.nanoseconds}`;
}

/** The fields of a document as the SDK gives them, timestamps as dates of millisecond precision. */
function documentFields(
  sdk: TimestampClass,
  fields: Readonly<Record<string, unknown>>,
): DocumentFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, documentValue(sdk, value)]),
  );
}

/** References, places, bytes and vectors are objects of classes; Recap writes none, and reads them as nothing. */
const isMap = (value: object) => Object.getPrototypeOf(value) === Object.prototype;

function documentValue(sdk: TimestampClass, value: unknown): Value {
  if (value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
    return value;
  }
  if (value instanceof sdk.Timestamp) return value.toDate();
  if (Array.isArray(value)) return value.map((item) => documentValue(sdk, item));
  if (typeof value === 'object') return isMap(value) ? documentFields(sdk, { ...value }) : null;
  throw new TypeError(`a stored value of type ${typeof value}`);
}
