import type { Vices } from '#infra/fake-gemini/server/misbehaviour.ts';
import type { AnswerSettings } from './answers/answer-folder.ts';
import { answerOptions, answerOptionsHelp, readAnswers } from './answers/answer-arguments.ts';
import { listOf, readVices, required } from './eval-arguments.ts';
import {
  ArgumentError,
  readChoice,
  readCommandLine,
  readFraction,
  readInteger,
} from './replay/replay-arguments.ts';

export type Strategy = 'ledger' | 'gemini-cli';

/** What the commands beside `npm run eval` are told. */
export interface ModeArguments {
  /** At least one. */
  dataPaths: string[];
  jsonPath?: string;
  strategies: Strategy[];
  /** In (0, 1). */
  keepFraction: number;
  snapshotTokens?: number;
  model: 'stand-in' | 'files';
  /** Of the model `files`. */
  answers?: AnswerSettings;
  seed: string;
  vices: Vices;
  repeat: number;
  profile: 'assistant' | 'coding';
  /** Of each file. Infinity: all. */
  limit: number;
  /** Empty: all. */
  ids: string[];
}

/** What differs between the commands where nothing is said. */
export interface ModeDefaults {
  strategies: string;
  repeat: string;
  /** Of the fake Gemini. */
  vices: string;
  /** Default: the fake Gemini. */
  model?: ModeArguments['model'];
}

export const modeOptionsHelp = `  --data FILE.jsonl        what to read; several times for several files
  --json OUT               write the figures and examples to this file
  --strategies LIST        ledger, gemini-cli, or both with a comma
  --keep F                 share of the text that stays word for word (default 0.3)
  --snapshot-tokens N      size of a snapshot (default: the policy's)
  --profile NAME           assistant (default) or coding
  --model NAME             stand-in (default) or files
${answerOptionsHelp}
  --seed TEXT              of the stand-in's vices (default 1)
  --vices LIST             of the stand-in; dense among them: as capable models write
  --limit N                only the first N of each file
  --ids A,B                only these
  --help                   this text`;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseModeArguments(
  argv: readonly string[],
  defaults: ModeDefaults,
): ModeArguments | 'help' {
  const { values, positionals } = readCommandLine(argv, {
    data: { type: 'string', multiple: true },
    json: { type: 'string' },
    strategies: { type: 'string', default: defaults.strategies },
    keep: { type: 'string', default: '0.3' },
    'snapshot-tokens': { type: 'string' },
    seed: { type: 'string', default: '1' },
    model: { type: 'string', default: defaults.model ?? 'stand-in' },
    ...answerOptions,
    vices: { type: 'string' },
    repeat: { type: 'string', default: defaults.repeat },
    profile: { type: 'string', default: 'assistant' },
    limit: { type: 'string' },
    ids: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  });
  if (values.help) return 'help';
  if (positionals[0] !== undefined)
    throw new ArgumentError(`what is ${JSON.stringify(positionals[0])}? A file goes to --data`);
  const [first, ...others] = values.data ?? [];
  const snapshotTokens = readInteger('--snapshot-tokens', values['snapshot-tokens']);
  const model = readChoice('--model', values.model, ['stand-in', 'files']);
  if (model === 'files' && values.vices !== undefined)
    throw new ArgumentError('--vices are those of the stand-in; recorded answers have their own');
  const answers = readAnswers(model, values);
  return {
    dataPaths: [required('--data', first), ...others],
    ...(values.json !== undefined && { jsonPath: values.json }),
    strategies: listOf(values.strategies).map((each) =>
      readChoice('--strategies', each, ['ledger', 'gemini-cli']),
    ),
    keepFraction: readFraction('--keep', values.keep, '(0, 1)'),
    ...(snapshotTokens !== undefined && { snapshotTokens }),
    model,
    ...(answers !== undefined && { answers }),
    seed: values.seed,
    vices: readVices(values.vices ?? (model === 'files' ? '' : defaults.vices)),
    repeat: readInteger('--repeat', values.repeat),
    profile: readChoice('--profile', values.profile, ['assistant', 'coding']),
    limit: readInteger('--limit', values.limit) ?? Number.POSITIVE_INFINITY,
    ids: listOf(values.ids),
  };
}
