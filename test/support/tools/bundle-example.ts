import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../', import.meta.url);

/** An example of `docs/examples` and what of Recap it needs, as one file in `folder`: its address. */
export async function bundleExample(name: string, folder: URL): Promise<string> {
  const outfile = new URL(`${name}.mjs`, folder);
  await build({
    entryPoints: [fileURLToPath(new URL(`docs/examples/${name}.ts`, root))],
    outfile: fileURLToPath(outfile),
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['genkit', 'genkit/*', '@google/genai'],
    alias: {
      'recap/compaction': fileURLToPath(new URL('functions/src/recap-compaction.ts', root)),
    },
    logLevel: 'error',
  });
  return outfile.href;
}
