import { execFile } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const INSTALL_TIMEOUT_MS = 300_000;

const script = fileURLToPath(new URL('../../../.ci/install-packages', import.meta.url));

/** Where packages are installed, or why they cannot be. */
export type Installed = { folder: string } | { missing: string };

/**
 * Installs the packages of a package.json, where they are not yet. That it cannot be is told as well; with CI=true it is
 * thrown.
 */
export async function installPackages(manifest: URL, title: string): Promise<Installed> {
  try {
    const { stdout } = await promisify(execFile)('bash', [script, fileURLToPath(manifest)], {
      timeout: INSTALL_TIMEOUT_MS,
    });
    return { folder: stdout.trim() };
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    const reason = error instanceof Error ? error.message.split('\n', 2).join(' ') : String(error);
    process.stdout.write(
      `not run: ${title} (needs the npm registry, from which it is installed: ${reason})\n`,
    );
    return { missing: reason };
  }
}

/** A package that was installed so; what is used of it is declared by the caller. */
export async function loadInstalled<Used>(folder: string, name: string): Promise<Used> {
  const { load } = await import(pathToFileURL(`${folder}/load.mjs`).href);
  return load(name);
}
