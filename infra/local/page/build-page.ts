import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../web/', import.meta.url));
const ICON = 'icon.svg';

/** Files of a build, by the path of their address. */
export type PageFiles = ReadonlyMap<string, Buffer>;

/** Builds the page from its sources, in memory (about a second). Throws what the build throws. */
export async function buildPage(): Promise<PageFiles> {
  const { build } = await import('vite');
  const built = await build({
    root,
    configFile: join(root, 'vite.config.ts'),
    build: { write: false },
  });
  if (!('output' in built)) throw new Error('the build of the page gave no files');
  const files = new Map<string, Buffer>();
  for (const file of built.output)
    files.set(`/${file.fileName}`, Buffer.from(file.type === 'chunk' ? file.code : file.source));
  // Files of the public folder are no part of a build that is not written.
  return files.set(`/${ICON}`, await readFile(join(root, 'public', ICON)));
}
