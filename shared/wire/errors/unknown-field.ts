import { z } from 'zod';
import { nearestWord } from '#shared/nearest-word.ts';

/** More names than this are no help in one sentence. */
const FIELDS_LISTED = 8;

/** Fields of other APIs that people send to ours, and what does the same here. */
const remedies: Readonly<Record<string, string>> = {
  stream:
    'Leave it out, and send the header `Accept: text/event-stream` where the answer shall be a stream.',
};

type Schema = z.core.$ZodType;

/** What a schema takes, without what it makes of it. */
function inner(schema: Schema | undefined): Schema | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
    return inner(schema.unwrap());
  return schema instanceof z.ZodPipe ? inner(schema.in) : schema;
}

/** The names that an object has at a path; none where there is a choice of several objects. */
function fieldsAt(schema: Schema | undefined, [key, ...rest]: readonly PropertyKey[]): string[] {
  const taken = inner(schema);
  if (taken instanceof z.ZodObject) {
    const shape: Readonly<Record<string, Schema>> = taken.shape;
    return key === undefined ? Object.keys(shape) : fieldsAt(shape[String(key)], rest);
  }
  return taken instanceof z.ZodArray && key !== undefined ? fieldsAt(taken.element, rest) : [];
}

/** What to do about a field that is not known: the one that was meant, or those there are. */
export function unknownFieldRemedy(
  schema: Schema,
  { path, key }: { path: readonly PropertyKey[]; key: string },
): string {
  const remedy = Object.hasOwn(remedies, key) ? remedies[key] : undefined;
  if (remedy !== undefined) return remedy;
  const fields = fieldsAt(schema, path);
  const nearest = nearestWord(key, fields);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  if (fields.length === 0 || fields.length > FIELDS_LISTED) return 'Remove it.';
  return `Remove it; there are ${fields.map((field) => `\`${field}\``).join(', ')}.`;
}
