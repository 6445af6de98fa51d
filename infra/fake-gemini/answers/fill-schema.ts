import { z } from 'zod';

const schemaNode = z.looseObject({
  type: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
});

/** A value that obeys a plain JSON Schema, with `text` for every string: all properties, empty arrays, no references. */
export function fillSchema(schema: unknown, text: string): unknown {
  const { type, properties = {}, enum: choices } = schemaNode.catch({}).parse(schema);
  if (choices !== undefined) return choices[0];
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, fillSchema(property, text)]),
    );
  if (type === 'array') return [];
  if (type === 'integer' || type === 'number') return 0;
  return type === 'boolean' ? false : text;
}
