import { spawn, execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';

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

const run = promisify(execFile);

/** The lines of a shell command that `npm start` prints, from its first word to the line that ends it. */
function commandFrom(printed: string, start: RegExp): string {
  const lines = printed.slice(printed.search(start)).split('\n');
  const end = lines.findIndex((line) => !line.endsWith('\\'));
  return lines.slice(0, end + 1).join('\n');
}

/**
 * Pastes the printed token and calls into a shell, word for word, and gives what the streaming call and
 * the JSON call answer.
 */
export async function runPrintedCalls(printed: string): Promise<{ stream: string; json: string }> {
  const token = commandFrom(printed, /^export RECAP_TOKEN=/m);
  const paste = async (start: RegExp): Promise<string> => {
    const script = `${token}\n${commandFrom(printed, start)}\n`;
    const { stdout } = await run('bash', ['-c', script]);
    return stdout;
  };
  const stream = await paste(/^curl -sN/m);
  const json = await paste(/^curl -s -H/m);
  return { stream, json };
}
