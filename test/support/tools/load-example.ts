import { build } from 'esbuild';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const pathOf = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/** An example of `docs/examples` and what of Recap it needs, as one module; packages that it imports are found from `folder`. */
export async function loadExample<Example>(name: string, folder = tmpdir()): Promise<Example> {
  const outfile = join(folder, `${randomUUID()}.mjs`);
  try {
    await build({
      entryPoints: [pathOf(`docs/examples/${name}.ts`)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      external: ['genkit', 'genkit/*', '@google/genai'],
      alias: { 'recap/compaction': pathOf('functions/src/recap-compaction.ts') },
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(outfile, { force: true });
  }
}
