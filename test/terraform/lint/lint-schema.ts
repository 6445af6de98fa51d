import type { KnownTypes, ProviderBlock } from '../offline/provider-schema.ts';
import { blocksIn, bodyOf, type Block, type Body, type Module } from '../read-module.ts';

/** What Terraform itself reads in every resource. */
const metaArguments = new Set([
  'count',
  'depends_on',
  'dynamic',
  'for_each',
  'lifecycle',
  'provider',
]);

/** A value that is written out: no expression in it. */
const isLiteral = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('${');

function typeProblem(type: unknown, value: unknown): string | undefined {
  if (type === 'bool' && isLiteral(value) && !['true', 'false'].includes(value))
    return 'a bool is required';
  if (type === 'number' && (typeof value === 'boolean' || (isLiteral(value) && isNaN(+value))))
    return 'a number is required';
  return undefined;
}

function lintAttributes(parent: Body, schema: ProviderBlock, isTop: boolean): string[] {
  const { attributes = {}, block_types: blocks = {} } = schema;
  const dynamic = bodyOf(parent['dynamic']);
  const names = [...Object.keys(parent), ...Object.keys(dynamic)];
  const unknown = names.filter(
    (name) =>
      !(name in attributes) &&
      !(name in blocks) &&
      name !== 'dynamic' &&
      !(isTop && metaArguments.has(name)),
  );
  const settable = (name: string) => attributes[name]?.required || attributes[name]?.optional;
  return [
    ...unknown.map((name) => `has no argument and no block "${name}"`),
    ...Object.entries(attributes)
      .filter(([name, { required }]) => required === true && !(name in parent))
      .map(([name]) => `the argument "${name}" is required`),
    ...Object.keys(parent)
      .filter((name) => name in attributes && !settable(name))
      .map((name) => `"${name}" is set by the provider alone`),
    ...Object.entries(parent).flatMap(([name, value]) => {
      const problem = typeProblem(attributes[name]?.type, value);
      return problem === undefined ? [] : [`"${name}": ${problem}`];
    }),
  ];
}

function lintBody(parent: Body, schema: ProviderBlock, isTop: boolean): string[] {
  const inner = Object.entries(schema.block_types ?? {}).flatMap(([name, nested]) => {
    const found = blocksIn(parent, name);
    const isDynamic = name in bodyOf(parent['dynamic']);
    const problems = found.flatMap((one) =>
      lintBody(one, nested.block, false).map((problem) => `${name}: ${problem}`),
    );
    if (!isDynamic && found.length < (nested.min_items ?? 0))
      problems.push(`a block "${name}" is required`);
    if (!isDynamic && nested.max_items !== undefined && nested.max_items > 0)
      if (found.length > nested.max_items)
        problems.push(`at most ${nested.max_items} blocks "${name}" are taken`);
    return problems;
  });
  return [...lintAttributes(parent, schema, isTop), ...inner];
}

function lintBlock(block: Block, schemas: KnownTypes['resource_schemas']): string[] {
  const schema = schemas[block.type];
  if (schema === undefined) return [`no provider has a type "${block.type}" that is known here`];
  return lintBody(block.body, schema.block, true);
}

/** Resources and data sources against the providers' schemas: one line for each mistake, with its address. */
export function lintSchema(module: Module, known: KnownTypes): string[] {
  const lint = (blocks: Block[], schemas: KnownTypes['resource_schemas']) =>
    blocks.flatMap((block) =>
      lintBlock(block, schemas).map((problem) => `${block.file}: ${block.address}: ${problem}`),
    );
  return [
    ...lint(module.resources, known.resource_schemas),
    ...lint(module.data, known.data_source_schemas),
  ];
}
