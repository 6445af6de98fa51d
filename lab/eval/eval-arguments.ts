import {
  compactionOptions,
  compactionOptionsHelp,
  readCompactionArguments,
  required,
  type CompactionArguments,
} from './compaction-arguments.ts';
import { ArgumentError, readChoice, readOptions } from './replay/replay-arguments.ts';
import { strategyNames, type Strategy } from './strategies.ts';

export const evalHelp = `Usage: npm run eval -- --data FILE.jsonl --out FILE [options]

Compacts recorded conversations with the pipeline of the service, on this machine and in memory, and tells
what that took and what it left. A line of the data file is a conversation with "id" and "turns" (contents as
the Gemini API has them); a line of the output is {"id","keepFrom","snapshot"}: what the snapshot says, and the
index of the first entry of "turns" that stays word for word.

  --data FILE.jsonl        recorded conversations
  --out FILE               where the snapshots go
  --strategy NAME          ledger (default) or gemini-cli
  --price IN/OUT           US dollars for a million tokens read and written by the model
${compactionOptionsHelp}

Exit code: 0 all compacted, or there is no data file; 1 a compaction failed; 2 wrong arguments; 3 prompts have
no answer.`;

/** US dollars for a million tokens. */
export interface Price {
  input: number;
  output: number;
}

export interface EvalArguments extends CompactionArguments {
  dataPath: string;
  outPath: string;
  strategy: Strategy;
  price?: Price;
}

function readPrice(text: string | undefined): Price | undefined {
  if (text === undefined) return undefined;
  const [, input, output] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (input === undefined || output === undefined)
    throw new ArgumentError(`--price takes IN/OUT such as 0.3/2.5, not ${JSON.stringify(text)}`);
  return { input: Number(input), output: Number(output) };
}

const options = {
  data: { type: 'string' },
  out: { type: 'string' },
  strategy: { type: 'string', default: 'ledger' },
  price: { type: 'string' },
  ...compactionOptions,
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseEvalArguments(argv: readonly string[]): EvalArguments | 'help' {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const price = readPrice(values.price);
  return {
    dataPath: required('--data', values.data),
    outPath: required('--out', values.out),
    strategy: readChoice('--strategy', values.strategy, strategyNames),
    ...(price !== undefined && { price }),
    ...readCompactionArguments(values),
  };
}
