import { listOf } from '../compaction-arguments.ts';
import { ArgumentError, readCommandLine, readInteger } from '../replay/replay-arguments.ts';

export const toolsHelp = `Usage: npm run eval:tools -- --data FILE.jsonl [options]

Replays recorded dialogues with tools through chat: the messages are sent, the model says and calls what is recorded,
the tools of the server give what is recorded, and the worker compacts in between. The model is the stand-in, over HTTP,
which refuses whatever Gemini would refuse. A call without a response is stopped by the user, as it was.

Tells for each file how many prompts were refused, where the transcript differs, how many contexts were shown other
than sent, which compactions are broken, the most tokens of tool outputs in one prompt, in how many prompts they are
over the budget, and in how many right after a compaction.

  --data FILE.jsonl      what to replay; several times for several files
  --json OUT             write the figures, dialogue by dialogue, to this file
  --threshold-tokens N   soft threshold of every dialogue (default: a quarter of the dialogue, 1,000 at least and
                         the product's own at most)
  --limit N              only the first N dialogues of each file
  --turns N              only the first N turns of each dialogue
  --ids A,B              only these
  --help                 this text

Exit code: 0 all holds, or no data file; 1 something does not; 2 wrong arguments.`;

export interface ToolsArguments {
  /** At least one. */
  dataPaths: string[];
  jsonPath?: string;
  thresholdTokens?: number;
  /** Of each file. Infinity: all. */
  limit: number;
  /** Of each dialogue. Infinity: all. */
  turns: number;
  /** Empty: all. */
  ids: string[];
}

const options = {
  data: { type: 'string', multiple: true },
  json: { type: 'string' },
  'threshold-tokens': { type: 'string' },
  limit: { type: 'string' },
  turns: { type: 'string' },
  ids: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseToolsArguments(argv: readonly string[]): ToolsArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  if (positionals[0] !== undefined)
    throw new ArgumentError(`what is ${JSON.stringify(positionals[0])}? A file goes to --data`);
  if (values.data === undefined) throw new ArgumentError('--data is missing');
  const thresholdTokens = readInteger('--threshold-tokens', values['threshold-tokens']);
  return {
    dataPaths: values.data,
    ...(values.json !== undefined && { jsonPath: values.json }),
    ...(thresholdTokens !== undefined && { thresholdTokens }),
    limit: readInteger('--limit', values.limit) ?? Number.POSITIVE_INFINITY,
    turns: readInteger('--turns', values.turns) ?? Number.POSITIVE_INFINITY,
    ids: listOf(values.ids),
  };
}
