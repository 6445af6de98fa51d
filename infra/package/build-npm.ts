import { readOptions, runCommand } from '#infra/command-line.ts';
import { buildPage } from '#infra/local/page/start-page.ts';
import { scripts } from '#infra/local/script-path.ts';
import { documentAt, FRAMEWORK } from './bundle.ts';
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { lockClosure, lockSchema } from './lock-closure.ts';

/*
 * Builds the npm package into dist/npm, for `npm pack`: the module, its types, the command, and the processes and the page
 * of a local stack. All scripts stand in one folder and share their code.
 */

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const out = join(root, 'dist/npm');

const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

async function buildScripts(): Promise<void> {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await build({
    absWorkingDir: root,
    entryPoints: {
      index: 'functions/src/recap.ts',
      compaction: 'functions/src/recap-compaction.ts',
      admin: 'functions/src/recap-admin.ts',
      recap: 'infra/recap/recap.ts',
      ...scripts,
    },
    outdir: out,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: [
      ...Object.keys(manifestSchema.parse(manifest).dependencies).flatMap((name) => [
        name,
        `${name}/*`,
      ]),
      // Builds the page from its sources, which the package has no need to.
      'vite',
    ],
    plugins: [documentAt('../../docs/reference/openapi.json')],
    legalComments: 'none',
    logLevel: 'warning',
  });
  const command = join(out, 'recap.js');
  await writeFile(command, `#!/usr/bin/env node\n${await readFile(command, 'utf8')}`, {
    mode: 0o755,
  });
  await build({
    absWorkingDir: root,
    entryPoints: ['infra/package/runtime/main.ts', 'infra/package/runtime/warm.ts'],
    outdir: join(out, 'runtime'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    external: ['@google-cloud/functions-framework', './main.cjs'],
    supported: { 'dynamic-import': false },
  });
}

/** What an archive's framework is locked to, whichever package manager an app's project has. */
async function writeLock(): Promise<void> {
  const lock = lockSchema.parse(
    JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')),
  );
  const packages = Object.fromEntries(lockClosure(lock, [FRAMEWORK]));
  const file = join(out, 'runtime/package-lock.json');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ lockfileVersion: lock.lockfileVersion, packages }));
}

async function writePage(): Promise<void> {
  for (const [path, content] of await buildPage()) {
    const file = join(out, 'page', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

const specifier = /(from\s+|import\()'(#shared\/|#functions\/|\.{1,2}\/)([^']+)\.ts'/g;
const rooms: Readonly<Record<string, string>> = {
  '#shared/': 'shared',
  '#functions/': 'functions/src',
};

/** Declarations that name each other as JavaScript does, so that they resolve wherever they are installed. */
async function writeTypes(): Promise<void> {
  const types = join(out, 'types');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const project = join(root, 'infra/package/types.json');
  // Files that no type of the package comes from cannot all be declared: what is missing is noticed below.
  await promisify(execFile)(process.execPath, [tsc, '--project', project, '--outDir', types], {
    cwd: root,
  }).catch(() => undefined);
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
        const target = at === undefined ? join(dirname(file), room, path) : join(types, at, path);
        named.push(`${target}.d.ts`);
        const from = relative(dirname(file), target).replaceAll('\\', '/');
        return `${before}'${from.startsWith('.') ? from : `./${from}`}.js'`;
      },
    );
    await writeFile(file, rewritten);
    for (const each of named) await visit(each);
  };
  for (const entry of ['recap', 'recap-compaction', 'recap-admin'])
    await visit(join(types, `functions/src/${entry}.d.ts`));
  for (const entry of await readdir(types, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(file)) await rm(file);
  }
}

const help = `Usage: npm run prepack

Builds the npm package into dist/npm; \`npm pack\` does it first.`;

process.exitCode = await runCommand(help, async (argv) => {
  if (readOptions(argv, { help: { type: 'boolean', default: false } }).help) return 'help';
  await rm(out, { recursive: true, force: true });
  await Promise.all([buildScripts(), writeLock(), writePage(), writeTypes()]);
  return 0;
});
