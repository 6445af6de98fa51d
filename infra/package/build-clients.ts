import { readOptions, runCommand } from '#infra/command-line.ts';
import { build } from 'esbuild';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileDeclarations, linkDeclarations } from './declarations.ts';

/*
 * Builds the packages of clients/ into their dist/, for `npm pack` there. Not minified: the app's bundler does that, and
 * who debugs an app can read it.
 */

const clients = fileURLToPath(new URL('../../clients', import.meta.url)).replace(/\/$/, '');

interface ClientPackage {
  folder: string;
  /** Sources by the name of what is built of them. */
  entries: Readonly<Record<string, string>>;
  /** Where the types of other packages are. */
  paths?: Readonly<Record<string, readonly string[]>>;
}

const packages: readonly ClientPackage[] = [
  { folder: 'typescript', entries: { index: 'index', node: 'storage/file' } },
  {
    folder: 'react',
    entries: { index: 'index' },
    paths: { '@recap/client': ['../../typescript/dist/types/index.d.ts'] },
  },
];

async function buildScripts({ folder, entries }: ClientPackage): Promise<void> {
  await build({
    absWorkingDir: join(clients, folder),
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, source]) => [name, `src/${source}.ts`]),
    ),
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
    external: ['node:*'],
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  });
}

async function writeTypes({ folder, entries, paths = {} }: ClientPackage): Promise<void> {
  const dist = join(clients, folder, 'dist');
  const project = join(dist, 'types.json');
  await writeFile(
    project,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: '../src',
        paths,
      },
      include: ['../src'],
    }),
  );
  await compileDeclarations(project, join(dist, 'types'));
  await rm(project);
  await linkDeclarations(join(dist, 'types'), Object.values(entries));
}

async function buildClient(client: ClientPackage): Promise<void> {
  const dist = join(clients, client.folder, 'dist');
  await rm(dist, { recursive: true, force: true });
  await buildScripts(client);
  await writeTypes(client);
  await cp(join(clients, '../LICENSE'), join(dist, 'LICENSE'));
}

const help = `Usage: node infra/package/build-clients.ts

Builds the client packages into clients/*/dist; \`npm pack\` in their folders does it first.`;

process.exitCode = await runCommand(help, async (argv) => {
  if (readOptions(argv, { help: { type: 'boolean', default: false } }).help) return 'help';
  // One after the other: the hooks need the types of the client.
  for (const client of packages) await buildClient(client);
  return 0;
});
