import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';

const BETWEEN_BLOCKS = '=====';

/** Runs the blocks in one shell that stops at the first failure; what each printed. */
export async function runBlocks(
  blocks: string[],
  environment: Record<string, string>,
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'curl-recipe-'));
  try {
    const script = blocks.join(`\necho '${BETWEEN_BLOCKS}'\n`);
    const shell = spawn('bash', ['-eu', '-c', script], {
      cwd: directory,
      // oxlint-disable-next-line node/no-process-env -- the shell has to find curl
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 50_000,
    });
    const [printed, complaints, [code]] = await Promise.all([
      textOf(shell.stdout),
      textOf(shell.stderr),
      once(shell, 'close'),
    ]);
    if (code !== 0) throw new Error(`the page's script ended with ${code}: ${complaints}`);
    return printed.split(`${BETWEEN_BLOCKS}\n`);
  } finally {
    await rm(directory, { recursive: true });
  }
}
