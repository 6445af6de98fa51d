import { ArgumentError } from '#lab/command-line.ts';

/**
 * Runs a command of this repository: prints `help` when `command` answers 'help', and beside what is wrong with
 * the arguments. Resolves to the exit code; 2 for an ArgumentError. Every other error is thrown on.
 */
export async function runCommand(
  help: string,
  command: (argv: string[]) => Promise<number | 'help'>,
): Promise<number> {
  try {
    const code = await command(process.argv.slice(2));
    if (code !== 'help') return code;
    process.stdout.write(`${help}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    process.stderr.write(`${error.message}\n\n${help}\n`);
    return 2;
  }
}
