import type { DocumentFields, Value } from '../../../shared/ports.ts';

/** The class that the SDK gives for dates; handed in, so that this file does not load the SDK. */
interface TimestampClass {
  Timestamp: new (...parts: never[]) => { toDate(): Date };
}

/** The fields of a document as the SDK gives them, timestamps as dates of millisecond precision. */
export function documentFields(
  sdk: TimestampClass,
  fields: Readonly<Record<string, unknown>>,
): DocumentFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, documentValue(sdk, value)]),
  );
}

function documentValue(sdk: TimestampClass, value: unknown): Value {
  if (value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
    return value;
  }
  if (value instanceof sdk.Timestamp) return value.toDate();
  if (Array.isArray(value)) return value.map((item) => documentValue(sdk, item));
  if (typeof value === 'object') return documentFields(sdk, { ...value });
  throw new TypeError(`a stored value of type ${typeof value}`);
}
