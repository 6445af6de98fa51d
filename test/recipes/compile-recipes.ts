import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RECIPES = fileURLToPath(new URL('../../docs/clients/recipes', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

export interface SourceFile {
  name: string;
  text: string;
}

/** An app's folder with the recipes copied into it, the packages of this repository, and `files`; removed by `remove`. */
export async function createAppFolder(files: readonly SourceFile[]) {
  const folder = join(tmpdir(), `recap-app-${randomUUID()}`);
  await cp(RECIPES, folder, { recursive: true });
  await symlink(MODULES, join(folder, 'node_modules'));
  for (const { name, text } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** Compiles files of an app's folder with the project's TypeScript; resolves to a line for each error. */
export async function compileTypeScript(
  folder: string,
  { files, compilerOptions }: { files: readonly string[]; compilerOptions: object },
): Promise<string[]> {
  const project = join(folder, `tsconfig-${randomUUID()}.json`);
  await writeFile(project, JSON.stringify({ compilerOptions, files }));
  const packageFile = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(packageFile), 'bin', 'tsc');
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [tsc, '--project', project, '--pretty', 'false'],
      { cwd: folder },
      (error, stdout, stderr) => {
        if (stderr) reject(new Error(stderr));
        else if (error && !stdout) reject(error);
        else resolve(stdout);
      },
    );
  });
  return printed.split('\n').filter((line) => line !== '');
}
