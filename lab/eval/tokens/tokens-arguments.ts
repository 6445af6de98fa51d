import { ArgumentError, readCommandLine } from '../replay/replay-arguments.ts';

export const tokensHelp = `Usage: npm run tokens -- --data FILE.jsonl [options]

Compares the estimate of tokens with counts that servers of Gemini reported: by kind, for both rules, and
with the calibration that a conversation would have reached. Nothing is sent anywhere.

A line of FILE is a text and its count:
  {"id":"1","kind":"output","content":"Hello","count":2,"repo":"owner/name","path":"a.json","model":"gemini-2.5-flash","api":"mldev"}
kind is output, output-call, prompt, prompt+tools or count; rows of one path are one recording.

  --held-out OWNER/NAME  source whose rows were not looked at when the weights were fitted
                         (default crmne/ruby_llm); may be given more than once
  --json OUT             write the figures to this file
  --help                 this text`;

export interface TokensArguments {
  dataPath: string;
  heldOut: readonly string[];
  jsonPath?: string;
}

const options = {
  data: { type: 'string' },
  'held-out': { type: 'string', multiple: true },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseTokensArguments(argv: readonly string[]): TokensArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  const [extra] = positionals;
  if (extra !== undefined)
    throw new ArgumentError(`${JSON.stringify(extra)} is no option; the file goes behind --data`);
  if (values.data === undefined)
    throw new ArgumentError('--data is missing: which counts are to be compared?');
  return {
    dataPath: values.data,
    heldOut: values['held-out'] ?? ['crmne/ruby_llm'],
    ...(values.json !== undefined && { jsonPath: values.json }),
  };
}
