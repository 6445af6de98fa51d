import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OfflineTerraform } from './offline/run-terraform.ts';
import { rootsOf } from './roots-of.ts';

/** Where the module stands in this repository. */
export const terraformFolder = fileURLToPath(new URL('../../terraform', import.meta.url));

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
