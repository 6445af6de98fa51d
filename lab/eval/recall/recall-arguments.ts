import { ArgumentError, readCommandLine, readInteger } from '../replay/replay-arguments.ts';

export const recallHelp = `Usage: npm run eval:recall -- --data FILE.jsonl [options]

Looks questions up in the transcripts that they were asked about, as the tool recall_history does, and tells how
often the turns that hold the evidence are among the first 5 and 10 hits: of the questions whose evidence was said
before the tail. The search library minisearch, with its defaults and the same turns, stands beside it. The weights were chosen on every second conversation; the others are held out.
Also how often automatic recall, asked with the question as the message, shows a message of the evidence in 800 and
1,500 characters: of the questions whose evidence was said in the first 70 % of the contents.

  --data FILE.jsonl   recorded conversations with "probes" ({"id","question","evidenceTurnIndexes"}); several
                      times for several files
  --tail-tokens N     size of the tail (default 4000, as the policy's)
  --json OUT          write the figures to this file
  --help              this text

Exit code: 0 there are figures, or no data file; 2 wrong arguments.`;

export interface RecallArguments {
  /** At least one. */
  dataPaths: string[];
  tailTokens: number;
  jsonPath?: string;
}

const options = {
  data: { type: 'string', multiple: true },
  'tail-tokens': { type: 'string', default: '4000' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseRecallArguments(argv: readonly string[]): RecallArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  const [extra] = positionals;
  if (extra !== undefined)
    throw new ArgumentError(`${JSON.stringify(extra)} is no option; files go behind --data`);
  if (values.data === undefined) throw new ArgumentError('--data is missing');
  return {
    dataPaths: values.data,
    tailTokens: readInteger('--tail-tokens', values['tail-tokens']),
    ...(values.json !== undefined && { jsonPath: values.json }),
  };
}
