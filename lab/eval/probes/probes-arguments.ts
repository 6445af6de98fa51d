import { readFileArgument, readInteger, readCommandLine } from '../replay/replay-arguments.ts';

export const probesHelp = `Usage: npm run probes -- FILE.jsonl [options]

Asks questions whose answers were said in turns that a compaction has folded: on the full history, on the
compacted one, and on the compacted one with its snapshot blanked. Runs on this machine, in memory.

  --count N             questions, spread evenly over the conversations (default 50)
  --threshold-tokens N  compact when the context reaches N tokens (default 16000)
  --survival PATH       module with answerScore() to score with (default: does the reply
                        contain the answer)
                        if it is there, else an answer counts when its words stand in the reply
  --json OUT            write the figures to this file
  --help                this text`;

export interface ProbesArguments {
  file: string;
  count: number;
  thresholdTokens: number;
  survivalPath?: string;
  jsonPath?: string;
}

const options = {
  count: { type: 'string', default: '50' },
  'threshold-tokens': { type: 'string', default: '16000' },
  survival: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseProbesArguments(argv: readonly string[]): ProbesArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  return {
    file: readFileArgument(positionals),
    count: readInteger('--count', values.count),
    thresholdTokens: readInteger('--threshold-tokens', values['threshold-tokens']),
    ...(values.survival !== undefined && { survivalPath: values.survival }),
    ...(values.json !== undefined && { jsonPath: values.json }),
  };
}
