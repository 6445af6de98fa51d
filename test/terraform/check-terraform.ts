import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OfflineTerraform } from './offline/run-terraform.ts';

/** Where the module stands in this repository. */
export const terraformFolder = fileURLToPath(new URL('../../terraform', import.meta.url));

/** Folders below `terraform/` that use the module. */
const parents = ['environments', 'examples'];

/** The module and every configuration that uses it, as paths below `folder`; '' is the module. */
async function rootsOf(folder: string): Promise<string[]> {
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
  /** What Terraform said. */
  output: string;
}

/** Formats, validates and tests `terraform/` or a copy of it, step by step. */
export async function* checkTerraform(
  terraform: OfflineTerraform,
  folder: string,
): AsyncGenerator<CheckResult> {
  const roots = await rootsOf(folder);
  const checks = [
    { name: 'fmt', root: '', args: ['fmt', '-check', '-diff', '-recursive', '-no-color'] },
    ...roots.flatMap((root) => [
      { name: `init ${root}`, root, args: ['init', '-backend=false', '-no-color'] },
      { name: `validate ${root}`, root, args: ['validate', '-no-color'] },
    ]),
    { name: 'test', root: '', args: ['test', '-no-color'] },
  ];
  for (const { name, root, args } of checks) {
    const { status, output } = await terraform.run(join(folder, root), ...args);
    yield { name: name.trim(), isPassed: status === 0, output };
  }
}
