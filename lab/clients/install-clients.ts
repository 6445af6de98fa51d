import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;
const versions = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: versions, devDependencies: versions.default({}) });

/** Libraries that the tests of this repository have, too. */
const ownLibraries = [
  'ai5',
  'ai6',
  'ai7',
  '@firebase/functions',
  'eventsource',
  'react-native-sse',
];

/**
 * Installs the libraries that only the table of clients needs into their folder, as its lock file says; no script
 * of theirs runs meanwhile. Throws Error where npm fails.
 */
export async function installClients(): Promise<void> {
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['ci', '--ignore-scripts', '--prefer-offline', ...quietly], {
    cwd: fileURLToPath(new URL('installed/', import.meta.url)),
    timeout: INSTALL_TIMEOUT_MS,
  });
}

const read = async (path: string) =>
  manifest.parse(JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8')));

/** The libraries that are run, with their versions. */
export async function clientVersions(): Promise<string[]> {
  const [own, installed] = await Promise.all([
    read('../../package.json'),
    read('installed/package.json'),
  ]);
  const all = Object.entries({
    ...installed.dependencies,
    ...Object.fromEntries(ownLibraries.map((name) => [name, own.devDependencies[name] ?? ''])),
  });
  return all
    .map(([name, version]) =>
      version.startsWith('npm:') ? version.slice(4) : `${name}@${version}`,
    )
    .toSorted();
}
