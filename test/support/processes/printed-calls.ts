import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

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
