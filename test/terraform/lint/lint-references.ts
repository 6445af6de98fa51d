import type { KnownTypes } from '../offline/provider-schema.ts';
import { codeIn } from './expressions.ts';
import type { Block, Module } from '../read-module.ts';

interface Reference {
  /** `var`, `local`, `module`, `data.google_…` or the type of a resource. */
  kind: string;
  name: string;
  /** What of it is asked for, where that is named. */
  attribute: string | undefined;
}

const pattern =
  /(?<![\w.\]-])(var|local|module|data\.\w+|(?:google|time)_\w+)\.([\w-]+)(?:\s*\[[^\]]*\])?(?:\.(\w+))?/g;

const referencesIn = (value: unknown): Reference[] =>
  [...codeIn(value).matchAll(pattern)].map(([, kind = '', name = '', attribute]) => ({
    kind,
    name,
    attribute,
  }));

const has = (blocks: readonly Block[], name: string) => blocks.some((one) => one.name === name);

function problemOf(
  { kind, name, attribute }: Reference,
  module: Module,
  known: KnownTypes,
): string | undefined {
  if (kind === 'var')
    return has(module.variables, name) ? undefined : `no variable "${name}" is declared`;
  if (kind === 'local') return has(module.locals, name) ? undefined : `no local "${name}"`;
  if (kind === 'module') return has(module.modules, name) ? undefined : `no module "${name}"`;
  const isData = kind.startsWith('data.');
  const type = isData ? kind.slice('data.'.length) : kind;
  const declared = isData ? module.data : module.resources;
  if (!declared.some((one) => one.type === type && one.name === name))
    return `no ${kind}.${name} is declared`;
  const schemas = isData ? known.data_source_schemas : known.resource_schemas;
  const { attributes = {}, block_types: blocks = {} } = schemas[type]?.block ?? {};
  const isKnown = attribute === undefined || attribute in attributes || attribute in blocks;
  return isKnown ? undefined : `${kind}.${name} has no attribute "${attribute}"`;
}

/** What expressions name: one line for each thing that nobody declares, with the block that names it. */
export function lintReferences(module: Module, known: KnownTypes): string[] {
  const blocks = Object.values(module).flat();
  return blocks.flatMap((block) => {
    const problems = referencesIn(block.body).flatMap((reference) => {
      const problem = problemOf(reference, module, known);
      return problem === undefined ? [] : [problem];
    });
    return [...new Set(problems)].map((problem) => `${block.file}: ${block.address}: ${problem}`);
  });
}
