import { z } from 'zod';

const nodeSchema = z.looseObject({
  $ref: z.string().optional(),
  $defs: z.record(z.string(), z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  minItems: z.number().optional(),
  minimum: z.number().optional(),
});
type Node = z.infer<typeof nodeSchema>;

/** What a value is made from. */
interface Source {
  root: Node;
  /** For every string. */
  text: string;
}

function read(schema: unknown, root: Node): Node {
  const node = nodeSchema.catch({}).parse(schema ?? {});
  const name = node.$ref?.split('/').at(-1);
  return name === undefined ? node : nodeSchema.catch({}).parse(root.$defs?.[name] ?? {});
}

function typeOf(node: Node): string {
  const types = Array.isArray(node.type) ? node.type : [node.type ?? ''];
  const type = types.find((each) => each.toLowerCase() !== 'null')?.toLowerCase() ?? '';
  if (type !== '') return type;
  if (node.properties !== undefined) return 'object';
  return node.items === undefined ? 'string' : 'array';
}

function alternatives(node: Node, root: Node): Node[] {
  const variants = node.anyOf ?? node.oneOf;
  return variants === undefined ? [node] : variants.map((variant) => read(variant, root));
}

function generateObject(node: Node, source: Source): object {
  const all = Object.entries(node.properties ?? {});
  const wanted = all.filter(
    ([name]) => node.required === undefined || node.required.includes(name),
  );
  return Object.fromEntries(
    wanted.map(([name, schema]) => [name, generate(read(schema, source.root), source)]),
  );
}

function generate(node: Node, source: Source): unknown {
  if (node.const !== undefined) return node.const;
  if (node.enum !== undefined) return node.enum[0];
  const variant = alternatives(node, source.root).find((each) => typeOf(each) !== 'null');
  if (variant !== undefined && variant !== node) return generate(variant, source);
  switch (typeOf(node)) {
    case 'object':
      return generateObject(node, source);
    case 'array': {
      const item = read(node.items, source.root);
      return Array.from({ length: node.minItems ?? 0 }, () => generate(item, source));
    }
    case 'integer':
    case 'number':
      return node.minimum ?? 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return source.text;
  }
}

/** A value that obeys a JSON Schema (or Gemini's upper-case schema), with `text` for every string. */
export function fillSchema(schema: unknown, text: string): unknown {
  const root = nodeSchema.catch({}).parse(schema ?? {});
  return generate(read(schema, root), { root, text });
}
