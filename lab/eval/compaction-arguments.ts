import type { AnswerSettings } from './answers/answer-folder.ts';
import { ArgumentError, readChoice, readFraction, readInteger } from './replay/replay-arguments.ts';

/** How recorded conversations are compacted, and which of them. */
export interface CompactionArguments {
  /** Share of the text that stays word for word, in (0, 1). */
  keepFraction: number;
  /** Default: the policy's. */
  snapshotTokens?: number;
  /** Soft threshold that budgets follow; default: the policy's. */
  thresholdTokens?: number;
  /** `stand-in`, `files` or a Gemini model. */
  model: string;
  /** Of the model `files`. */
  answers?: AnswerSettings;
  /** Compactions of a conversation while it grows. */
  repeat: number;
  profile: 'assistant' | 'coding';
  /** Conversations of each file. Infinity: all. */
  limit: number;
  /** Empty: all. */
  ids: string[];
}

export const compactionOptions = {
  keep: { type: 'string', default: '0.3' },
  'snapshot-tokens': { type: 'string' },
  threshold: { type: 'string' },
  model: { type: 'string' },
  answers: { type: 'string' },
  loose: { type: 'boolean', default: false },
  repeat: { type: 'string', default: '1' },
  profile: { type: 'string', default: 'assistant' },
  limit: { type: 'string' },
  ids: { type: 'string', default: '' },
} as const;

export const compactionOptionsHelp = `  --keep F                 share of the text that stays word for word (default 0.3)
  --snapshot-tokens N      size of a snapshot (default: the policy's)
  --threshold N            as if the soft threshold were N: what follows from it follows
  --model NAME             stand-in, files, or a Gemini model, with GEMINI_API_KEY
  --answers DIR            of --model files: recorded answers; a prompt without one is written there, and the
                           exit code is 3
  --loose                  of --model files: also take an answer to an earlier form of the prompt, by its place
  --repeat K               compact K times while the conversation grows (default 1)
  --profile NAME           assistant (default) or coding
  --limit N                only the first N conversations of each file
  --ids A,B                only these conversations
  --help                   this text`;

/** What `compactionOptions` read of a command line. */
interface CompactionValues {
  keep: string;
  'snapshot-tokens'?: string | undefined;
  threshold?: string | undefined;
  model?: string | undefined;
  answers?: string | undefined;
  loose: boolean;
  repeat: string;
  profile: string;
  limit?: string | undefined;
  ids: string;
}

/** `a, b` → `['a', 'b']`. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

export function required(flag: string, text: string | undefined): string {
  if (text === undefined || text === '') throw new ArgumentError(`${flag} is missing`);
  return text;
}

/** Where the model `files` finds answers; undefined for any other. */
function readAnswers(
  model: string,
  { answers, loose }: Pick<CompactionValues, 'answers' | 'loose'>,
): AnswerSettings | undefined {
  if (model === 'files') {
    if (answers === undefined || answers === '')
      throw new ArgumentError('--model files needs --answers DIR, the folder of the answers');
    return { folder: answers, isLoose: loose };
  }
  if (answers !== undefined || loose)
    throw new ArgumentError('--answers and --loose need --model files');
  return undefined;
}

/** Throws ArgumentError. */
export function readCompactionArguments(
  values: CompactionValues,
  defaultModel = 'stand-in',
): CompactionArguments {
  const snapshotTokens = readInteger('--snapshot-tokens', values['snapshot-tokens']);
  const thresholdTokens = readInteger('--threshold', values.threshold);
  const model = values.model ?? defaultModel;
  const answers = readAnswers(model, values);
  return {
    keepFraction: readFraction('--keep', values.keep, '(0, 1)'),
    ...(snapshotTokens !== undefined && { snapshotTokens }),
    ...(thresholdTokens !== undefined && { thresholdTokens }),
    model,
    ...(answers !== undefined && { answers }),
    repeat: readInteger('--repeat', values.repeat),
    profile: readChoice('--profile', values.profile, ['assistant', 'coding']),
    limit: readInteger('--limit', values.limit) ?? Number.POSITIVE_INFINITY,
    ids: listOf(values.ids),
  };
}
