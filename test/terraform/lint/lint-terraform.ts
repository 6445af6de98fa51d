import { join } from 'node:path';
import { readKnownTypes } from '../offline/provider-schema.ts';
import { rootsOf } from '../roots-of.ts';
import { lintCalls } from './lint-calls.ts';
import { lintOrder } from './lint-order.ts';
import { lintReferences } from './lint-references.ts';
import { lintRights } from './lint-rights.ts';
import { lintRules } from './lint-rules.ts';
import { lintSchema } from './lint-schema.ts';
import { readModule, type Module } from '../read-module.ts';

/**
 * What is wrong with `terraform/` or a copy of it, as far as it can be seen without Terraform: one line for
 * each mistake, with its file and its block. It knows types, arguments, blocks, references and rights, and
 * runs no expression: `terraform validate` and the tests see more.
 */
export async function lintTerraform(folder: string): Promise<string[]> {
  const known = readKnownTypes();
  const roots = await rootsOf(folder);
  const modules: { root: string; module: Module }[] = [];
  for (const root of roots)
    try {
      modules.push({ root, module: await readModule(join(folder, root)) });
    } catch (error) {
      // What cannot be read is all that there is to say.
      return [`${root}/: ${error instanceof Error ? error.message : String(error)}`];
    }
  const own = modules.find(({ root }) => root === '')?.module;
  if (own === undefined) throw new Error(`${folder} has no module`);
  return modules.flatMap(({ root, module }) =>
    [
      ...lintSchema(module, known),
      ...lintReferences(module, known),
      ...lintRights(module),
      ...lintRules(module),
      ...lintOrder(module),
      ...lintCalls(module, own),
    ].map((problem) => (root === '' ? problem : `${root}/${problem}`)),
  );
}
