import { execFile } from 'node:child_process';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const specifier = /(from\s+|import\()'(#[\w-]+\/|\.{1,2}\/)([^']+)\.ts'/g;

/** Writes the declarations of a TypeScript project into a folder. Rejects where it does not compile. */
export async function compileDeclarations(project: string, folder: string): Promise<void> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const parameters = [tsc, '--project', project, '--outDir', folder];
  await promisify(execFile)(process.execPath, parameters, { cwd: root });
}

/**
 * Makes the declarations of a folder name each other as JavaScript does, so that they resolve wherever they are
 * installed, and leaves only those that the entries need. `rooms`: where in the folder each `#room/` is.
 */
export async function linkDeclarations(
  folder: string,
  entries: readonly string[],
  rooms: Readonly<Record<string, string>> = {},
): Promise<void> {
  const reached = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = await readFile(file, 'utf8');
    const named: string[] = [];
    const rewritten = text.replaceAll(
      specifier,
      (_, before: string, room: string, path: string) => {
        const at = rooms[room];
        const target = at === undefined ? join(dirname(file), room, path) : join(folder, at, path);
        named.push(`${target}.d.ts`);
        const from = relative(dirname(file), target).replaceAll('\\', '/');
        return `${before}'${from.startsWith('.') ? from : `./${from}`}.js'`;
      },
    );
    await writeFile(file, rewritten);
    for (const each of named) await visit(each);
  };
  for (const entry of entries) await visit(join(folder, `${entry}.d.ts`));
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(file)) await rm(file);
  }
}
