import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { madeOnce } from '../tools/cache-folder.ts';

const INSTALL_TIMEOUT_MS = 300_000;

/** Resolves packages from the folder that it lies in. */
const LOADER = 'export const load = (name) => import(name);\n';

const COMMAND =
  'install --ignore-scripts --no-package-lock --prefer-offline --fetch-retries=1 --no-audit --no-fund --loglevel=error'.split(
    ' ',
  );

/** Where packages are installed, or why they cannot be. */
export type Installed = { folder: string } | { missing: string };

/**
 * Installs the packages of a package.json, where they are not yet; no script of theirs runs. That it cannot be is told as
 * well; with CI=true it is thrown.
 */
export async function installPackages(manifest: URL, title: string): Promise<Installed> {
  const wanted = await readFile(manifest, 'utf8');
  const install = async (folder: string) => {
    await writeFile(join(folder, 'package.json'), wanted);
    await writeFile(join(folder, 'load.mjs'), LOADER);
    await promisify(execFile)('npm', COMMAND, {
      cwd: folder,
      timeout: INSTALL_TIMEOUT_MS,
    });
  };
  try {
    const madeOf = JSON.stringify([wanted, LOADER, COMMAND, process.platform, process.arch]);
    const hash = createHash('sha256').update(madeOf).digest('hex');
    return { folder: await madeOnce(`packages-${hash}`, install) };
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    const reason = error instanceof Error ? error.message.split('\n', 2).join(' ') : String(error);
    process.stdout.write(`not run: ${title} (its packages cannot be installed: ${reason})\n`);
    return { missing: reason };
  }
}

/** A package that was installed so; what is used of it is declared by the caller. */
export async function loadInstalled<Used>(folder: string, name: string): Promise<Used> {
  const { load } = await import(pathToFileURL(join(folder, 'load.mjs')).href);
  return load(name);
}
