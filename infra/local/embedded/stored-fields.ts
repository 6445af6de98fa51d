import type { FieldSetting, StoredFields, StoredValue } from '#shared/store/checked-write.ts';
import { isMap } from './value-order.ts';

/** The value at a field path, `undefined` where there is none. */
export function valueAt(
  fields: StoredFields,
  fieldPath: readonly string[],
): StoredValue | undefined {
  let value: StoredValue | undefined = fields;
  for (const name of fieldPath) {
    value = isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** New fields with the update applied; `fields` stays as it is. */
export function updatedFields(
  fields: StoredFields,
  update: { set: readonly FieldSetting[]; remove: readonly string[][] },
): StoredFields {
  let result = fields;
  for (const { fieldPath, value } of update.set) result = withValue(result, fieldPath, value);
  for (const fieldPath of update.remove) result = withoutValue(result, fieldPath);
  return result;
}

/** A deep copy, so that nobody outside holds what the store holds. */
export function copyFields(fields: StoredFields): StoredFields {
  const copied: StoredFields = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) copied[name] = copy(value);
  }
  return copied;
}

function copy(value: StoredValue): StoredValue {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return new Date(value);
  return Array.isArray(value) ? value.map(copy) : copyFields(value);
}

/** As in Firestore, a value on the way that is no map gives way to one. */
function withValue(
  fields: StoredFields,
  [name = '', ...rest]: readonly string[],
  value: StoredValue,
): StoredFields {
  if (rest.length === 0) return { ...fields, [name]: value };
  const child = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return { ...fields, [name]: withValue(isMap(child) ? child : {}, rest, value) };
}

/** The map that a field is taken from stays, even when it is left empty. */
function withoutValue(fields: StoredFields, [name = '', ...rest]: readonly string[]): StoredFields {
  const child = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (rest.length > 0) {
    return isMap(child) ? { ...fields, [name]: withoutValue(child, rest) } : fields;
  }
  const { [name]: _removed, ...others } = fields;
  return others;
}
