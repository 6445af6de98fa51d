import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { shortReason } from './short-reason.ts';

/** Those that are measured; each has a folder here with its package.json. */
export const peerNames = ['genkit', 'adk', 'langgraph', 'mastra', 'gemini-cli'] as const;

export type PeerName = (typeof peerNames)[number];

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 180_000;
const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

/** The folder of a peer, with a slash at its end. */
export const peerFolder = (peer: PeerName): URL => new URL(`${peer}/`, import.meta.url);

/** The packages of a peer with their versions, as they are asked for. */
export async function peerPackages(peer: PeerName): Promise<string[]> {
  const manifest = await readFile(new URL('package.json', peerFolder(peer)), 'utf8');
  const { dependencies } = manifestSchema.parse(JSON.parse(manifest));
  return Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
}

/**
 * Installs the packages of a peer into its folder, where they are not there already; no script of theirs runs
 * meanwhile. Throws Error with the name of the peer where that fails.
 */
export async function installPeer(peer: PeerName): Promise<void> {
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
  const line = ['install', '--no-package-lock', '--ignore-scripts', '--prefer-offline', ...quietly];
  try {
    await run('npm', [...line, '--fetch-retries=1'], {
      cwd: fileURLToPath(peerFolder(peer)),
      timeout: INSTALL_TIMEOUT_MS,
    });
  } catch (error) {
    throw new Error(`${peer} cannot be installed: ${installReason(error)}`, { cause: error });
  }
}

/** What npm says first of what went wrong. */
function installReason(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const lines = said.split('\n').filter((line) => line.startsWith('npm error'));
  return lines.length === 0 ? shortReason(error) : lines.slice(0, 2).join(', ');
}
