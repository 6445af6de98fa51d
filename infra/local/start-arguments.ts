import { parseArgs } from 'node:util';

export const startHelp = `Usage: npm start [-- options]

Starts Recap on this machine: the chat and compaction functions, Firestore and Pub/Sub (the emulators
where they are installed, else in memory), and a stand-in for Gemini unless GEMINI_API_KEY is set.
Ctrl-C ends all of it; a second Ctrl-C does not wait.

  --embedded   store and bus in memory, even where emulators are installed
  --port N     chat on port N (default 8080), compaction on N+1, stand-in on N+2,
               page on N+3; a port that is taken is replaced by the next free one
  --verbose    every log line of the functions, as it is
  --help       this text`;

export interface StartArguments {
  isEmbedded: boolean;
  port: number;
  isVerbose: boolean;
}

/** Highest port that leaves room for the three after it. */
const highestPort = 65_532;

/** Reads the command line; `'help'` when that was asked for. Throws an Error that names the flag. */
export function parseStartArguments(argv: readonly string[]): StartArguments | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      embedded: { type: 'boolean', default: false },
      port: { type: 'string', default: '8080' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : 0;
  if (port < 1 || port > highestPort)
    throw new Error(
      `--port takes a number from 1 to ${highestPort}, not ${JSON.stringify(values.port)}`,
    );
  return {
    isEmbedded: values.embedded,
    port,
    isVerbose: values.verbose,
  };
}
