import { createHash } from 'node:crypto';
import { access, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const sources = join(root, 'web');
const cache = join(root, 'node_modules/.cache/recap-page');

/** What is built into the page beside its own sources: a new version of a package is a new page. */
const OTHER_SOURCES = ['package-lock.json'];

/** Files of a build, by the path of their address. */
export type PageFiles = ReadonlyMap<string, Buffer>;

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

async function fingerprint(): Promise<string> {
  const built = join(sources, 'dist');
  const own = (await filesBelow(sources)).filter((file) => !file.startsWith(built));
  const hash = createHash('sha256');
  for (const file of [...own, ...OTHER_SOURCES.map((name) => join(root, name))])
    hash.update(`${relative(root, file)}\0`).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** The built page, from the cache where the sources are the same. Throws what the build throws. */
async function buildOnce(): Promise<string> {
  const directory = join(cache, await fingerprint());
  if (await exists(directory)) return directory;
  const { build } = await import('vite');
  const outDir = `${directory}-${process.pid}`;
  await build({
    root: sources,
    configFile: join(sources, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true },
  });
  // Two starts at the same time build the same: the first one stays.
  await rename(outDir, directory).catch(() => rm(outDir, { recursive: true, force: true }));
  return directory;
}

/** The files of the page, built when the sources changed (about a second). Throws what the build throws. */
export async function buildPage(): Promise<PageFiles> {
  const directory = await buildOnce();
  const files = await filesBelow(directory);
  return new Map(
    await Promise.all(
      files.map(async (file) => [`/${relative(directory, file)}`, await readFile(file)] as const),
    ),
  );
}
