import {
  ArgumentError,
  readChoice,
  readFraction,
  readInteger,
  readOptions,
} from '#infra/command-line.ts';
import { AnswerFolder } from './answer-folder.ts';

export const evalHelp = `Usage: npm run eval -- --data FILE.jsonl --score NAME [options]

Compacts recorded conversations with the pipeline of the service, on this machine and in memory, and scores what is left.
NAME is one of:

  golden    expectations of each recording are in its snapshot, and what the compactions took
  readers   what somebody can answer who sees only what is left; summaries, readers and a judge are files of --answers
  harm      what verification did to the answers of a model: kept, added, marked, only reworded
  recall    how often a search for a question, and automatic recall, find the turns that hold the evidence
  attacks   whether a text in the history becomes an instruction
  tokens    the estimate of tokens beside counts that servers reported

  --data FILE.jsonl        what to read; several times for several files
  --answers DIR            recorded answers of a model; a prompt without one is written there
  --loose                  also take an answer to an earlier form of the prompt, by its place
  --model NAME             without --answers: fake-gemini (default), or a Gemini model, with GEMINI_API_KEY
  --method LIST            recap, gemini-cli, whole (of readers: all folded turns), with a comma between two
                           (default: recap; of readers all; of attacks recap,gemini-cli)
  --repeat K               compact K times while the conversation grows (default 1; of readers 3)
  --keep F                 share of the text that stays word for word (default 0.3)
  --profile NAME           assistant (default) or coding
  --threshold N            as if the soft threshold were N: what follows from it follows
  --snapshot-tokens N      size of a snapshot (default: the policy's; of attacks 1200)
  --gemini-cli-tokens N    the same of gemini-cli (default: that of --snapshot-tokens)
  --limit N                only the first N conversations of each file
  --ids A,B                only these conversations
  --questions N            of readers: questions of each conversation, spread evenly (default 50)
  --json OUT               write the figures to this file
  --help                   this text

Exit code: 0 good, or no data file; 1 something that must hold does not; 2 wrong arguments; 3 prompts have no answer.`;

const scoreNames = ['golden', 'readers', 'harm', 'recall', 'attacks', 'tokens'] as const;
export type ScoreName = (typeof scoreNames)[number];

const methodNames = ['recap', 'gemini-cli', 'whole'] as const;
type Method = (typeof methodNames)[number];
/** How a conversation is kept short. */
export type CompactingMethod = Exclude<Method, 'whole'>;

const options = {
  data: { type: 'string', multiple: true },
  score: { type: 'string' },
  answers: { type: 'string' },
  loose: { type: 'boolean', default: false },
  model: { type: 'string' },
  method: { type: 'string' },
  repeat: { type: 'string' },
  keep: { type: 'string', default: '0.3' },
  profile: { type: 'string', default: 'assistant' },
  threshold: { type: 'string' },
  'snapshot-tokens': { type: 'string' },
  'gemini-cli-tokens': { type: 'string' },
  limit: { type: 'string' },
  ids: { type: 'string', default: '' },
  questions: { type: 'string', default: '50' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Which methods a score can take, the usual ones first; a score without any compacts nothing. */
const methodsFor: Readonly<Record<ScoreName, { usual: Method[]; possible: readonly Method[] }>> = {
  golden: { usual: ['recap'], possible: ['recap', 'gemini-cli'] },
  readers: { usual: [...methodNames], possible: methodNames },
  harm: { usual: ['recap'], possible: ['recap'] },
  recall: { usual: [], possible: [] },
  attacks: { usual: ['recap', 'gemini-cli'], possible: ['recap', 'gemini-cli'] },
  tokens: { usual: [], possible: [] },
};

/** `a, b` → `['a', 'b']`. */
const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

function required(flag: string, text: string | undefined): string {
  if (text === undefined || text === '') throw new ArgumentError(`${flag} is missing`);
  return text;
}

function readMethods(score: ScoreName, text: string | undefined): Method[] {
  const { usual, possible } = methodsFor[score];
  if (text === undefined) return usual;
  if (possible.length === 0) throw new ArgumentError(`--score ${score} takes no --method`);
  return listOf(text).map((each) => readChoice(`--method of --score ${score}`, each, possible));
}

/** Answers by model come from files, so no model is named beside them. Throws ArgumentError. */
function readAnswerFolder(values: {
  answers?: string | undefined;
  loose: boolean;
  model?: string | undefined;
}): AnswerFolder | undefined {
  if (values.answers === undefined) return undefined;
  if (values.model !== undefined)
    throw new ArgumentError('--answers and --model exclude each other');
  return new AnswerFolder(required('--answers', values.answers), values.loose);
}

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function readEvalSettings(argv: readonly string[]) {
  const values = readOptions(argv, options);
  if (values.help) return 'help' as const;
  const [first, ...others] = values.data ?? [];
  const dataPaths = [required('--data', first), ...others];
  const score = readChoice('--score', required('--score', values.score), scoreNames);
  const answers = readAnswerFolder(values);
  if (score === 'readers' && answers === undefined)
    throw new ArgumentError('--score readers needs --answers DIR, the folder of the answers');
  return {
    score,
    dataPaths,
    methods: readMethods(score, values.method),
    /** What answers where no file does: `fake-gemini` or a Gemini model. */
    model: values.model ?? 'fake-gemini',
    /** Share of the text that stays word for word. */
    keepFraction: readFraction('--keep', values.keep, '(0, 1)'),
    /** Compactions of a conversation while it grows. */
    repeat: readInteger('--repeat', values.repeat ?? (score === 'readers' ? '3' : '1')),
    profile: readChoice('--profile', values.profile, ['assistant', 'coding']),
    limit: readInteger('--limit', values.limit) ?? Number.POSITIVE_INFINITY,
    /** Empty: all. */
    ids: listOf(values.ids),
    questions: readInteger('--questions', values.questions),
    answers,
    /** Soft threshold that budgets follow; default: the policy's. */
    thresholdTokens: readInteger('--threshold', values.threshold),
    snapshotTokens: readInteger('--snapshot-tokens', values['snapshot-tokens']),
    /** Default: as `snapshotTokens`. */
    geminiCliTokens: readInteger('--gemini-cli-tokens', values['gemini-cli-tokens']),
    jsonPath: values.json,
  };
}
export type EvalSettings = Exclude<ReturnType<typeof readEvalSettings>, 'help'>;

/** How recordings are compacted. */
export type CompactionSettings = Pick<EvalSettings, 'keepFraction' | 'repeat' | 'profile'> &
  Partial<Pick<EvalSettings, 'thresholdTokens' | 'snapshotTokens'>>;
