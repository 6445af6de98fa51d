import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OfflineTerraform } from './run-terraform.ts';

/** Where the module stands in this repository. */
export const terraformFolder = fileURLToPath(new URL('../../terraform/', import.meta.url));

/** The module and every configuration that uses it. */
async function rootFolders(folder: string): Promise<string[]> {
  const below = await Promise.all(
    ['environments', 'examples'].map(async (parent) => {
      const entries = await readdir(join(folder, parent), { withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isDirectory())
        .map((entry) => join(folder, parent, entry.name));
    }),
  );
  return [folder, ...below.flat()];
}

interface Check {
  name: string;
  folder: string;
  args: string[];
}

export interface CheckResult {
  name: string;
  isPassed: boolean;
  /** What Terraform said. */
  output: string;
}

async function checksOf(folder: string): Promise<Check[]> {
  const roots = await rootFolders(folder);
  const nameOf = (root: string) => root.slice(folder.length).replace(/^\//, '') || 'terraform';
  return [
    { name: 'fmt', folder, args: ['fmt', '-check', '-diff', '-recursive', '-no-color'] },
    ...roots.flatMap((root): Check[] => [
      { name: `init ${nameOf(root)}`, folder: root, args: ['init', '-backend=false', '-no-color'] },
      { name: `validate ${nameOf(root)}`, folder: root, args: ['validate', '-no-color'] },
    ]),
    { name: 'test', folder, args: ['test', '-no-color'] },
  ];
}

/** Formats, validates and tests a copy or the original of `terraform/`; one result for each step. */
export async function* checkTerraform(
  terraform: OfflineTerraform,
  folder: string,
): AsyncGenerator<CheckResult> {
  for (const { name, folder: place, args } of await checksOf(folder)) {
    const { status, output } = await terraform.run(place, ...args);
    yield { name, isPassed: status === 0, output };
  }
}
