import { z } from 'zod';

/** More names than this are no help in one sentence. */
const FIELDS_LISTED = 8;

export type Schema = z.core.$ZodType;

/** What a schema takes, without what it makes of it. */
function inner(schema: Schema | undefined): Schema | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
    return inner(schema.unwrap());
  if (!(schema instanceof z.ZodPipe)) return schema;
  return inner(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
}

/** The schema of a field; undefined behind a choice of several. */
function schemaAt(
  schema: Schema | undefined,
  [key, ...rest]: readonly PropertyKey[],
): Schema | undefined {
  if (key === undefined) return schema;
  const taken = inner(schema);
  if (taken instanceof z.ZodObject) {
    const shape: Readonly<Record<string, Schema>> = taken.shape;
    return schemaAt(shape[String(key)], rest);
  }
  return taken instanceof z.ZodArray ? schemaAt(taken.element, rest) : undefined;
}

/** The names that an object has at a path; none where there is no object, or a choice of several. */
export function fieldsAt(schema: Schema, path: readonly PropertyKey[]): string[] {
  const taken = inner(schemaAt(schema, path));
  return taken instanceof z.ZodObject ? Object.keys(taken.shape) : [];
}

/** `\`id\`, \`parts\``; '' for none, or for more than help. */
export const listFields = (fields: readonly string[]): string =>
  fields.length > FIELDS_LISTED ? '' : fields.map((field) => `\`${field}\``).join(', ');

/** What is said of a field in the reference, its first sentence; '' for nothing. */
export function meaningAt(schema: Schema, path: readonly PropertyKey[]): string {
  const found = schemaAt(schema, path);
  const told = [found, inner(found)].map((each) =>
    each instanceof z.ZodType ? each.description : undefined,
  );
  const text = told.find((each) => each !== undefined) ?? '';
  return /^.*?[.;](?=\s|$)/.exec(text)?.[0].replace(/;$/, '.') ?? text;
}
