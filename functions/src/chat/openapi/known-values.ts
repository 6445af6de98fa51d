import type { Operation } from './path-item.ts';
import type { JsonSchema, Schemas } from './schemas.ts';

/** An operation of the document with its place. */
export interface Placed {
  method: string;
  path: string;
  operation: Operation;
}

/** `X-Turn-Id`, `turnId` and `turn_id` are one name. */
export const nameKey = (name: string) =>
  name.replace(/^x-/i, '').replaceAll(/[-_]/g, '').toLowerCase();

const singular = (name: string) => name.replace(/ies$/, 'y').replace(/s$/, '');

/** `/v1/pins/{pinId}:rate` is about `/v1/pins`, and so is `/v1/pins`. */
export const collectionPath = (path: string) => path.replace(/:\w+$/, '').replace(/\/\{\w+\}$/, '');

/** `conversation` for what stands at `/v1/conversations/{conversationId}:fork`. */
const resourceName = (path: string) => singular(collectionPath(path).split('/').at(-1) ?? '');

const asSchema = (schema: JsonSchema | boolean | undefined): JsonSchema =>
  typeof schema === 'object' ? schema : {};

const resolved = (schema: JsonSchema, schemas: Schemas): JsonSchema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

const branches = ({ anyOf = [], oneOf = [] }: JsonSchema) => [...anyOf, ...oneOf].map(asSchema);

/** The properties of an object, those of all branches of a union included. */
function properties(schema: JsonSchema, schemas: Schemas): Record<string, JsonSchema> {
  const target = resolved(schema, schemas);
  const below = branches(target).map((branch) => properties(branch, schemas));
  return Object.assign({}, ...below, target.properties);
}

/** The fields that an object always has. */
export const requiredFields = (schema: JsonSchema, schemas: Schemas): readonly string[] =>
  resolved(schema, schemas).required ?? [];

/** Where the fields of an entry stand: in the object itself, or in the first entry of a list. */
function entry({ type, items, ...schema }: JsonSchema): { at: string; schema: JsonSchema } {
  if (type === 'array' && !Array.isArray(items)) return { at: '/0', schema: asSchema(items) };
  return { at: '', schema };
}

/**
 * The values of a JSON document by the key of the name that they go by: `turn.id` is a `turnId`, `pins[0].id` a
 * `pinId`, and an `id` at the top is one of what the path is about.
 */
export function bodyValues(
  schema: JsonSchema,
  { schemas, path }: { schemas: Schemas; path: string },
): Map<string, string> {
  const values = new Map<string, string>();
  const add = (name: string, pointer: string) => {
    if (!values.has(nameKey(name))) values.set(nameKey(name), pointer);
  };
  const fields = Object.entries(properties(schema, schemas));
  for (const [name] of fields) add(name === 'id' ? `${resourceName(path)}Id` : name, `/${name}`);
  const always = requiredFields(schema, schemas);
  for (const [name, field] of fields.filter(([each]) => always.includes(each))) {
    const { at, schema: inner } = entry(field);
    const owner = name === 'data' ? resourceName(path) : singular(name);
    for (const below of Object.keys(properties(inner, schemas)))
      add(below === 'id' ? `${owner}Id` : below, `/${name}${at}/${below}`);
  }
  return values;
}
