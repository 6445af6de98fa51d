import { readOptions, runCommand } from '#infra/command-line.ts';
import { buildPage } from '#infra/local/page/start-page.ts';
import { scripts } from '#infra/local/script-path.ts';
import { documentAt, FRAMEWORK } from './bundle.ts';
import { compileDeclarations, linkDeclarations } from './declarations.ts';
import { build } from 'esbuild';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

async function writeTypes(): Promise<void> {
  const types = join(out, 'types');
  // Files that no type of the package comes from cannot all be declared: what is missing is noticed below.
  await compileDeclarations('infra/package/types.json', types).catch(() => undefined);
  const entries = ['recap', 'recap-compaction', 'recap-admin'];
  await linkDeclarations(
    types,
    entries.map((entry) => `functions/src/${entry}`),
    { '#shared/': 'shared', '#functions/': 'functions/src' },
  );
}

const help = `Usage: npm run prepack

Builds the npm package into dist/npm; \`npm pack\` does it first.`;

process.exitCode = await runCommand(help, async (argv) => {
  if (readOptions(argv, { help: { type: 'boolean', default: false } }).help) return 'help';
  await rm(out, { recursive: true, force: true });
  await Promise.all([buildScripts(), writeLock(), writePage(), writeTypes()]);
  return 0;
});
