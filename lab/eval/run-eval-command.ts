import { ArgumentError } from './replay/replay-arguments.ts';

/**
 * Runs a command that measures. What it throws is told by its message, without a stack trace: exit code 2 for an
 * ArgumentError, with how to get help, and 1 for anything else.
 */
export async function runEvalCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof ArgumentError) process.stderr.write('--help explains the arguments\n');
    process.exitCode = error instanceof ArgumentError ? 2 : 1;
  }
}
