/** A JSON Schema (2020-12) that a client gave, or a schema inside it. */
export type Schema = boolean | SchemaObject;
export type SchemaObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'boolean' || isObject(value);

const decoded = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~');

/** What a `$ref` such as `#/$defs/day` leads to, in the schema itself alone; undefined: to nothing. */
export function resolveRef(root: Schema, ref: string): unknown {
  const [document, ...segments] = ref.split('/').map(decoded);
  if (document !== '#') return undefined;
  return segments.reduce<unknown>((target, name) => {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name))
      return undefined;
    const inner: unknown = Reflect.get(target, name);
    return inner;
  }, root);
}
