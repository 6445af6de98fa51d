import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Terraform } from './run-terraform.ts';
import { tooEarlyIn, unprotectedIn } from './taken-as-valid.ts';

/** Where the module stands in this repository. */
export const terraformFolder = fileURLToPath(new URL('../../terraform', import.meta.url));

/** The module and every configuration that uses it, as paths below `folder`; '' is the module. */
export async function rootsIn(folder: string): Promise<string[]> {
  const parents = ['environments', 'examples'];
  const below = await Promise.all(
    parents.map(async (parent) => {
      const entries = await readdir(join(folder, parent), { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name));
    }),
  );
  return ['', ...below.flat()];
}

export interface CheckResult {
  name: string;
  isPassed: boolean;
  /** What is wrong, where something is. */
  output: string;
}

/** Formats and validates `terraform/` or a copy of it, step by step, and looks for what Terraform takes as valid. */
export async function* checkTerraform(
  terraform: Terraform,
  folder: string,
): AsyncGenerator<CheckResult> {
  const roots = await rootsIn(folder);
  const checks = [
    { name: 'fmt', root: '', args: ['fmt', '-check', '-diff', '-recursive', '-no-color'] },
    ...roots.flatMap((root) => [
      { name: `init ${root}`, root, args: ['init', '-backend=false', '-no-color'] },
      { name: `validate ${root}`, root, args: ['validate', '-no-color'] },
    ]),
  ];
  for (const { name, root, args } of checks) {
    const { status, output } = await terraform.run(join(folder, root), ...args);
    yield { name: name.trim(), isPassed: status === 0, output };
  }
  const { status, output } = await terraform.run(folder, 'graph');
  const inGraph = [
    { name: 'order', find: tooEarlyIn },
    { name: 'protection', find: unprotectedIn },
  ];
  for (const { name, find } of inGraph) {
    const problems = status === 0 ? find(output) : [output];
    yield { name, isPassed: problems.length === 0, output: problems.join('\n') };
  }
}
