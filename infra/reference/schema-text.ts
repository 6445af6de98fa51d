import type { JsonSchema } from '#functions/chat/openapi/schemas.ts';

/** The name that a `$ref` points at, if it is one. */
export const referencedName = ({ $ref }: JsonSchema): string | undefined =>
  $ref?.replace('#/components/schemas/', '');

const anchor = (name: string) => `[${name}](#${name.toLowerCase()})`;

const asSchema = (schema: JsonSchema | boolean | undefined): JsonSchema =>
  typeof schema === 'object' ? schema : {};

const itemsOf = ({ items }: JsonSchema): JsonSchema =>
  asSchema(Array.isArray(items) ? undefined : items);

const joined = (schemas: readonly (JsonSchema | boolean)[]) =>
  [...new Set(schemas.map((schema) => typeText(asSchema(schema))))].join(' or ');

/** What a value is, in a few words of a table: `list of [Message](#message)`. */
export function typeText(schema: JsonSchema): string {
  const name = referencedName(schema);
  if (name !== undefined) return anchor(name);
  const choices = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  if (choices) return joined(choices);
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.type === 'array') return `list of ${typeText(itemsOf(schema))}`;
  if (typeof schema.contentSchema === 'object')
    return `${String(schema.type)} of ${typeText(schema.contentSchema)}`;
  if (schema.format !== undefined) return `${String(schema.type)} (${schema.format})`;
  return typeof schema.type === 'string' ? schema.type : 'any';
}

/** The bounds of a value in words; '' where it has none. */
export function boundsText(schema: JsonSchema): string {
  const said: [string, unknown][] = [
    ['at least', schema.minimum],
    ['above', schema.exclusiveMinimum],
    ['at most', schema.maximum],
    ['from', schema.minLength === undefined ? undefined : `${schema.minLength} characters`],
    ['up to', schema.maxLength === undefined ? undefined : `${schema.maxLength} characters`],
    ['from', schema.minItems === undefined ? undefined : `${schema.minItems} entries`],
    ['up to', schema.maxItems === undefined ? undefined : `${schema.maxItems} entries`],
    ['default', schema.default === undefined ? undefined : `\`${JSON.stringify(schema.default)}\``],
  ];
  return said
    .filter(([, value]) => value !== undefined)
    .map(([word, value]) => `${word} ${String(value)}`)
    .join(', ');
}

interface Field {
  /** `message.parts[].text`. */
  path: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** The branches of a union that are objects of this place. */
const branches = (schema: JsonSchema): JsonSchema[] =>
  (schema.anyOf ?? schema.oneOf ?? []).map(asSchema).filter(({ $ref }) => $ref === undefined);

/** Every field of a schema, those of objects inside included; what has a name of its own is not opened. */
export function listFields(schema: JsonSchema, prefix = ''): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, each]): Field[] => {
    const property = asSchema(each);
    const path = `${prefix}${name}`;
    const isRequired = (schema.required ?? []).includes(name);
    return [{ path, schema: property, isRequired }, ...fieldsBelow(property, path)];
  });
  const ofBranches = branches(schema).flatMap((branch) => listFields(branch, prefix));
  const seen = new Set<string>();
  return [...own, ...ofBranches].filter(({ path, schema: { const: kind } }) => {
    const isNew = !seen.has(path) || kind !== undefined;
    seen.add(path);
    return isNew;
  });
}

function fieldsBelow(schema: JsonSchema, path: string): Field[] {
  if (schema.type === 'array') {
    const items = itemsOf(schema);
    return items.$ref === undefined ? listFields(items, `${path}[].`) : [];
  }
  return schema.$ref === undefined ? listFields(schema, `${path}.`) : [];
}
