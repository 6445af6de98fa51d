import { parseArgs } from 'node:util';

/**
 * Reads the arguments of a command that takes none but `--help`: prints `help` for that, and for anything
 * else what is wrong on stderr.
 *
 * @returns the exit status to end with (0 after help, 2 after wrong arguments), undefined to go on
 */
export function endedByArguments(help: string): 0 | 2 | undefined {
  try {
    const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
    if (!values.help) return undefined;
    console.log(help);
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 2;
  }
}
