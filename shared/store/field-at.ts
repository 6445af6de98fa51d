import type { DocumentFields, Value } from '../ports/ports.ts';

const isMap = (value: Value | undefined): value is DocumentFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The value at a dotted path in a document of any shape; undefined where there is none. */
export function fieldAt(fields: DocumentFields, fieldPath: string): Value | undefined {
  let value: Value | undefined = fields;
  for (const name of fieldPath.split('.')) value = isMap(value) ? value[name] : undefined;
  return value;
}
