import { vicesSchema, type Vices } from '#infra/fake-gemini/server/misbehaviour.ts';
import type { AnswerSettings } from './answers/answer-folder.ts';
import { answerOptions, answerOptionsHelp, readAnswers } from './answers/answer-arguments.ts';
import { readTrial, type Trial } from './run/eval-trial.ts';
import {
  ArgumentError,
  readChoice,
  readCommandLine,
  readFraction,
  readInteger,
} from './replay/replay-arguments.ts';

export const evalHelp = `Usage: npm run eval -- --data FILE.jsonl --out FILE [options]

Compacts recorded conversations with the pipeline of the service, on this machine and in memory, and tells
what is left of them. A line of the data file is a conversation with "id" and "turns" (contents as the Gemini
API has them); a line of the output is {"id","keepFrom","snapshot"}: what the snapshot says, and the index of
the first entry of "turns" that stays word for word.

  --data FILE.jsonl        recorded conversations
  --out FILE               where the snapshots go
  --strategy NAME          ledger (default) or gemini-cli
  --keep F                 share of the text that stays word for word (default 0.3)
  --snapshot-tokens N      size of a snapshot (default: the policy's)
  --threshold N            as if the soft threshold were N: what follows from it follows
  --model NAME             stand-in (default), files, or a Gemini model, with GEMINI_API_KEY
${answerOptionsHelp}
  --vices LIST             of the stand-in: forgetful=0.3,inventive=0.1,obedient,…; dense: as capable models write
  --seed TEXT              of the stand-in's vices (default 1)
  --repeat K               compact K times while the conversation grows (default 1)
  --profile NAME           assistant (default) or coding
  --try NAME               what the service does not do: staged, rounds=0 to rounds=2 or examples; repair is what
                           it does, with calls that forget afresh as in the others
  --price IN/OUT           US dollars for a million tokens read and written by the model
  --limit N                only the first N conversations
  --ids A,B                only these conversations
  --help                   this text

Exit code: 0 all compacted, or there is no data file; 1 a compaction failed; 2 wrong arguments.`;

/** US dollars for a million tokens. */
export interface Price {
  input: number;
  output: number;
}

export interface EvalArguments {
  dataPath: string;
  outPath: string;
  strategy: 'ledger' | 'gemini-cli';
  /** In (0, 1). */
  keepFraction: number;
  snapshotTokens?: number;
  /** Soft threshold that budgets follow; absent: the policy's. */
  thresholdTokens?: number;
  /** `stand-in`, `files` or a Gemini model. */
  model: string;
  /** Of the model `files`. */
  answers?: AnswerSettings;
  vices: Vices;
  seed: string;
  repeat: number;
  profile: 'assistant' | 'coding';
  trial?: Trial;
  price?: Price;
  /** Infinity: all. */
  limit: number;
  /** Empty: all. */
  ids: string[];
}

/** `a, b` → `['a', 'b']`. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** `forgetful=0.3,obedient` → `{forgetful: 0.3, obedient: true}`. Throws ArgumentError. */
export function readVices(text: string): Vices {
  const entries = listOf(text).map((each) => {
    const [name = '', value] = each.split('=');
    return [name, value === undefined ? true : Number(value)] as const;
  });
  const parsed = vicesSchema.safeParse(Object.fromEntries(entries));
  if (!parsed.success)
    throw new ArgumentError(
      `--vices: ${parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}`,
    );
  return parsed.data;
}

function readPrice(text: string | undefined): Price | undefined {
  if (text === undefined) return undefined;
  const found = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text);
  if (found === null)
    throw new ArgumentError(`--price takes IN/OUT such as 0.3/2.5, not ${JSON.stringify(text)}`);
  return { input: Number(found[1]), output: Number(found[2]) };
}

export function required(flag: string, text: string | undefined): string {
  if (text === undefined || text === '') throw new ArgumentError(`${flag} is missing`);
  return text;
}

const options = {
  data: { type: 'string' },
  out: { type: 'string' },
  strategy: { type: 'string', default: 'ledger' },
  keep: { type: 'string', default: '0.3' },
  'snapshot-tokens': { type: 'string' },
  threshold: { type: 'string' },
  model: { type: 'string', default: 'stand-in' },
  ...answerOptions,
  vices: { type: 'string', default: '' },
  seed: { type: 'string', default: '1' },
  repeat: { type: 'string', default: '1' },
  profile: { type: 'string', default: 'assistant' },
  try: { type: 'string' },
  price: { type: 'string' },
  limit: { type: 'string' },
  ids: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseEvalArguments(argv: readonly string[]): EvalArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  if (positionals[0] !== undefined)
    throw new ArgumentError(`what is ${JSON.stringify(positionals[0])}? Files go to --data, --out`);
  const snapshotTokens = readInteger('--snapshot-tokens', values['snapshot-tokens']);
  const thresholdTokens = readInteger('--threshold', values.threshold);
  const price = readPrice(values.price);
  const vices = readVices(values.vices);
  const trial = values.try === undefined ? undefined : readTrial(values.try);
  if (trial !== undefined && values.strategy !== 'ledger')
    throw new ArgumentError('--try is of the strategy ledger');
  if (values.model !== 'stand-in' && Object.keys(vices).length > 0)
    throw new ArgumentError('--vices are those of the stand-in; a real model has its own');
  const answers = readAnswers(values.model, values);
  return {
    dataPath: required('--data', values.data),
    outPath: required('--out', values.out),
    strategy: readChoice('--strategy', values.strategy, ['ledger', 'gemini-cli']),
    keepFraction: readFraction('--keep', values.keep, '(0, 1)'),
    ...(snapshotTokens !== undefined && { snapshotTokens }),
    ...(thresholdTokens !== undefined && { thresholdTokens }),
    model: values.model,
    ...(answers !== undefined && { answers }),
    vices,
    seed: values.seed,
    repeat: readInteger('--repeat', values.repeat),
    profile: readChoice('--profile', values.profile, ['assistant', 'coding']),
    ...(trial !== undefined && { trial }),
    ...(price !== undefined && { price }),
    limit: readInteger('--limit', values.limit) ?? Number.POSITIVE_INFINITY,
    ids: listOf(values.ids),
  };
}
