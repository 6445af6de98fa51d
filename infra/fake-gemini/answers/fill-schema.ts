import { z } from 'zod';
import { type Candidate, ledgerSection } from '../summaries/ledger-lines.ts';

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

/** What a filled schema says. */
interface Filling {
  /** For a string property named `scratchpad`. */
  scratchpad: string;
  /** For every other string. */
  text: string;
  /** For an array named `operations`: what changes a known item is an operation, the others are added by section. */
  items: readonly Candidate[];
}

interface Place {
  root: Node;
  name: string;
  filling: Filling;
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

function admits(schema: unknown, value: string, root: Node): boolean {
  const node = read(schema, root);
  if (node.const !== undefined) return node.const === value;
  return node.enum === undefined || node.enum.includes(value);
}

const fallbackSections: Readonly<Record<string, readonly string[]>> = {
  artifact_trail: ['artifact_trail', 'artifacts'],
  file_system_state: ['file_system_state', 'artifacts'],
};

function pickSection(schema: unknown, section: string, root: Node): string {
  const names = [...(fallbackSections[section] ?? [section]), 'key_knowledge'];
  const admitted = names.find((name) => admits(schema, name, root));
  const first = read(schema, root).enum?.[0];
  return admitted ?? (typeof first === 'string' ? first : section);
}

/** What an operation says of one item, in the shape of the schema that knows it. */
function fillItem(node: Node, item: Candidate, place: Place): object {
  const filled: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(node.properties ?? {})) {
    const isRequired = node.required?.includes(name) === true;
    switch (name) {
      case 'op':
        filled[name] = item.changes?.op;
        break;
      case 'id':
        filled[name] = item.changes?.id;
        break;
      case 'reason':
        filled[name] = item.changes?.reason ?? `The user said: ${item.text}`;
        break;
      case 'text':
        filled[name] = item.text;
        break;
      case 'sources': {
        const isText = typeOf(read(read(schema, place.root).items, place.root)) === 'string';
        filled[name] = isText ? item.sources.map(String) : item.sources;
        break;
      }
      case 'quote': {
        // A text that stands in the turn word for word is a quote.
        const isSaid = node.properties?.['text'] !== undefined && item.text === item.quote;
        if (item.saidBy === 'user' && item.quote !== '' && !isSaid) filled[name] = item.quote;
        else if (isRequired) filled[name] = '';
        break;
      }
      default:
        if (isRequired) filled[name] = generate(read(schema, place.root), { ...place, name });
    }
  }
  return filled;
}

/** One operation a section, with the items that are new there, in the order of their first. */
function fillAdditions(variant: Node, items: readonly Candidate[], place: Place): object[] {
  const { section: sections, items: list } = variant.properties ?? {};
  const itemNode = read(read(list, place.root).items, place.root);
  const bySection = Map.groupBy(items, (item) =>
    pickSection(sections, ledgerSection(item), place.root),
  );
  return [...bySection].map(([section, group]) => ({
    op: 'add',
    section,
    items: group.map((item) => fillItem(itemNode, item, place)),
  }));
}

function fillOperations(node: Node, place: Place): object[] | undefined {
  const variants = alternatives(read(node.items, place.root), place.root);
  const variantOf = (op: string): Node | undefined =>
    variants.find(
      ({ properties }) =>
        properties?.['op'] !== undefined && admits(properties['op'], op, place.root),
    );
  const addition = variantOf('add');
  if (addition === undefined) return undefined;
  const { items } = place.filling;
  const added = items.filter(({ changes }) => changes === undefined);
  const changing = items.flatMap((item) => {
    const variant = item.changes && variantOf(item.changes.op);
    return variant === undefined ? [] : [fillItem(variant, item, place)];
  });
  return [...fillAdditions(addition, added, place), ...changing];
}

function generateObject(node: Node, place: Place): object {
  const all = Object.entries(node.properties ?? {});
  const wanted = all.filter(
    ([name]) =>
      node.required === undefined || node.required.includes(name) || name === 'operations',
  );
  return Object.fromEntries(
    wanted.map(([name, schema]) => [name, generate(read(schema, place.root), { ...place, name })]),
  );
}

function generateArray(node: Node, place: Place): unknown[] {
  const operations = place.name === 'operations' ? fillOperations(node, place) : undefined;
  if (operations !== undefined) return operations;
  const item = read(node.items, place.root);
  return Array.from({ length: node.minItems ?? 0 }, () => generate(item, place));
}

function generate(node: Node, place: Place): unknown {
  if (node.const !== undefined) return node.const;
  if (node.enum !== undefined) return node.enum[0];
  const variant = alternatives(node, place.root).find((each) => typeOf(each) !== 'null');
  if (variant !== undefined && variant !== node) return generate(variant, place);
  switch (typeOf(node)) {
    case 'object':
      return generateObject(node, place);
    case 'array':
      return generateArray(node, place);
    case 'integer':
    case 'number':
      return node.minimum ?? 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return place.name === 'scratchpad' ? place.filling.scratchpad : place.filling.text;
  }
}

/** A value that obeys a JSON Schema (or Gemini's upper-case schema), filled with what there is to say. */
export function fillSchema(schema: unknown, filling: Filling): unknown {
  const root = nodeSchema.catch({}).parse(schema ?? {});
  return generate(read(schema, root), { root, name: '', filling });
}
