import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SourceFile } from '../compile-recipes.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
/** Compiled apps by what they are made from: the compiler needs 40 s of processor time. */
const CACHE = path('../../../node_modules/.cache/kotlin-recipe');

/** Maven, or the repository that it takes libraries from, is out of reach: nothing was compiled. */
export class MavenUnreachable extends Error {}

/** What Maven prints where it cannot get a library, which is no error of the code. */
const UNREACHABLE =
  /Could not (?:resolve|transfer|find artifact)|could not be resolved|Cannot access .* in offline mode/;

/** Runs Maven in a folder; what it printed, and whether it went well. */
const runMaven = (folder: string, options: readonly string[]) =>
  new Promise<{ isDone: boolean; printed: string }>((resolve) => {
    const maven = ['--batch-mode', '--quiet', ...options, 'process-classes'];
    execFile('mvn', maven, { cwd: folder, timeout: 900_000 }, (error, stdout, stderr) =>
      resolve({ isDone: !error, printed: `${stdout}${stderr}` }),
    );
  });

/** What is there already is enough, as a rule; else Maven may ask its repository. */
async function compile(folder: string): Promise<void> {
  let build = await runMaven(folder, ['--offline']);
  if (!build.isDone && UNREACHABLE.test(build.printed)) build = await runMaven(folder, []);
  if (build.isDone) return;
  if (UNREACHABLE.test(build.printed)) throw new MavenUnreachable(build.printed.slice(0, 2_000));
  throw new Error(build.printed);
}

/**
 * Compiles the Kotlin recipe with the driver and `more` by Maven; the class path to run it with. Throws
 * MavenUnreachable, or Error with what the compiler says.
 */
export async function buildKotlin(more: readonly SourceFile[]): Promise<string> {
  const recipes = ['Recap.kt', 'pom.xml', 'Driver.kt'];
  const folders = ['../../../docs/clients/recipes/', './', './'];
  const files = await Promise.all(
    recipes.map(async (name, n) => ({
      name,
      text: await readFile(path(`${folders[n]}${name}`), 'utf8'),
    })),
  );
  const all = [...files, ...more];
  const built = join(CACHE, createHash('sha256').update(JSON.stringify(all)).digest('hex'));
  if (!existsSync(built)) {
    const folder = join(CACHE, randomUUID());
    await mkdir(folder, { recursive: true });
    await Promise.all(all.map(({ name, text }) => writeFile(join(folder, name), text)));
    try {
      await compile(folder);
      await rename(folder, built);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const libraries = join(built, 'target', 'dependency');
  const jars = (await readdir(libraries)).map((jar) => join(libraries, jar));
  return [join(built, 'target', 'classes'), ...jars].join(delimiter);
}
