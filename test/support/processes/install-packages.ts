import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const INSTALL_TIMEOUT_MS = 300_000;

/** Resolves packages from the folder that it lies in. */
const loader = 'export const load = (name) => import(name);\n';

/**
 * Installs the packages of a package.json into `folder`, where this version of it was not installed yet; no script of theirs
 * runs. Resolves to why that cannot be, which is told as well; with CI=true that is thrown.
 */
export async function installPackages(
  manifest: URL,
  folder: URL,
  title: string,
): Promise<string | undefined> {
  const wanted = await readFile(manifest, 'utf8');
  const installed = await readFile(new URL('installed.json', folder), 'utf8').catch(() => '');
  if (installed === wanted) return undefined;
  await mkdir(folder, { recursive: true });
  await copyFile(manifest, new URL('package.json', folder));
  await writeFile(new URL('load.mjs', folder), loader);
  const how = ['--ignore-scripts', '--no-package-lock', '--prefer-offline', '--fetch-retries=1'];
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
  try {
    await promisify(execFile)('npm', ['install', ...how, ...quietly], {
      cwd: fileURLToPath(folder),
      timeout: INSTALL_TIMEOUT_MS,
    });
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    const reason = error instanceof Error ? error.message.split('\n', 2).join(' ') : String(error);
    process.stdout.write(
      `not run: ${title} (needs the npm registry, from which it is installed: ${reason})\n`,
    );
    return reason;
  }
  await writeFile(new URL('installed.json', folder), wanted);
  return undefined;
}

/** A package that was installed so; what is used of it is declared by the caller. */
export async function loadInstalled<Used>(folder: URL | string, name: string): Promise<Used> {
  const from = typeof folder === 'string' ? pathToFileURL(`${folder}/`) : folder;
  const { load } = await import(new URL('load.mjs', from).href);
  return load(name);
}
