import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders below `terraform/` that use the module. */
const parents = ['environments', 'examples'];

/** The module and every configuration that uses it, as paths below `folder`; '' is the module. */
export async function rootsOf(folder: string): Promise<string[]> {
  const below = await Promise.all(
    parents.map(async (parent) => {
      const entries = await readdir(join(folder, parent), { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name));
    }),
  );
  return ['', ...below.flat()];
}
