import { writeFile } from 'node:fs/promises';
import {
  answersText,
  exitCode,
  openAnswerFolder,
  type AnswerFolder,
} from '../eval/answers/answer-folder.ts';
import { askAll, AnswerMissingError } from '../eval/answers/ask-recorded.ts';
import { listOf, required } from '../eval/compaction-arguments.ts';
import { checkWritable, readGivenFile, readRecordings } from '../eval/given-files.ts';
import {
  ArgumentError,
  readOptions,
  readFraction,
  readInteger,
} from '../eval/replay/replay-arguments.ts';
import type { Recording } from '../eval/replay/recording.ts';
import { runEvalCommand } from '../eval/run-eval-command.ts';
import { startEvalBench, type EvalBench } from '../eval/run/eval-bench.ts';
import type { GrowSettings } from '../eval/run/eval-generations.ts';
import { slicesOf, turnsOf } from '../eval/run/eval-turns.ts';
import type { Strategy } from '../eval/strategies.ts';
import { geminiCliContext, recapContexts, wholeContext, type LeftContext } from './contexts.ts';
import { foldedQuestions, type Question } from './folded-questions.ts';
import { marksText, parseMarks, type Measured } from './marks-file.ts';
import { readAndJudge } from './read-and-judge.ts';
import type { Seen } from './reader-prompts.ts';
import { scoresTable } from './reader-scores.ts';

const help = `Usage: npm run eval:readers -- --data FILE.jsonl --answers FOLDER [options]
       npm run eval:readers -- --marks FILE

What does somebody still know who sees only what is left of a conversation? Compacts conversations that have "probes", with
Recap and as Gemini CLI does, in the same rounds; lets a reader answer the questions about folded turns from each of what
they left, and a judge compare the answers with the known ones, all methods shuffled. A reader of the whole folded history
is the ceiling.
Summaries, answers and marks are files: a prompt without one is written to the folder.

  --data FILE.jsonl        recorded conversations with "probes" ({"id","question","answer","evidenceTurnIndexes"})
  --ids A,B                only these conversations
  --answers FOLDER         recorded answers; a prompt without one is written there
  --repeat K               compact K times while the conversation grows (default 3)
  --keep F                 share of the text that is not folded at last (default 0.3)
  --snapshot-tokens N      size of the snapshots (default: the policy's)
  --gemini-cli-tokens N    size of Gemini CLI's (default: that of --snapshot-tokens)
  --recall-tokens N        what recall may put before a message (default 500)
  --questions N            questions of each conversation, spread evenly (default 50)
  --json OUT               once all is marked: write sizes and the marks of every question to this file, without a word
                           of the conversations
  --marks FILE             measure nothing: print the table of the marks that --json has written
  --help                   this text

Exit code: 0 all is marked; 2 wrong arguments; 3 prompts have no answer.`;

const options = {
  data: { type: 'string' },
  ids: { type: 'string', default: '' },
  answers: { type: 'string' },
  repeat: { type: 'string', default: '3' },
  keep: { type: 'string', default: '0.3' },
  'snapshot-tokens': { type: 'string' },
  'gemini-cli-tokens': { type: 'string' },
  'recall-tokens': { type: 'string', default: '500' },
  questions: { type: 'string', default: '50' },
  json: { type: 'string' },
  marks: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof readOptions<typeof options>>;

/** Both compact in the same rounds. */
interface Settings {
  recap: GrowSettings & { recallTokens: number };
  geminiCli: GrowSettings;
}

const readSettings = (values: Values): Settings => {
  const snapshotTokens = readInteger('--snapshot-tokens', values['snapshot-tokens']);
  const cliTokens = readInteger('--gemini-cli-tokens', values['gemini-cli-tokens']);
  const growing = {
    profile: 'assistant' as const,
    repeat: readInteger('--repeat', values.repeat),
    keepFraction: readFraction('--keep', values.keep, '(0, 1)'),
    ...(snapshotTokens !== undefined && { snapshotTokens }),
  };
  return {
    recap: { ...growing, recallTokens: readInteger('--recall-tokens', values['recall-tokens']) },
    geminiCli: { ...growing, ...(cliTokens !== undefined && { snapshotTokens: cliTokens }) },
  };
};

/** What each method leaves of a conversation, the ceiling last. Throws AnswerMissingError when all prompts are written. */
async function leftContexts(
  { folder, settings }: Wanted,
  recording: Recording,
  foldedTurns: number,
): Promise<LeftContext[]> {
  const onBench = async <Left>(strategy: Strategy, leave: (bench: EvalBench) => Promise<Left>) => {
    const bench = await startEvalBench({ model: 'files', strategy, answerFolder: folder }, {});
    try {
      return await leave(bench);
    } finally {
      await bench.stop();
    }
  };
  const contexts = await askAll([
    () => onBench('ledger', (bench) => recapContexts(bench, settings.recap, recording)),
    async () => [
      await onBench('gemini-cli', (bench) =>
        geminiCliContext(bench, settings.geminiCli, recording),
      ),
    ],
  ]);
  return [...contexts.flat(), wholeContext(recording, foldedTurns)];
}

const seenBy = async (
  { method, text, beside }: LeftContext,
  questions: readonly Question[],
): Promise<Seen> => ({
  method,
  context: text,
  questions: await Promise.all(
    questions.map(async ({ question }) => ({ question, beside: await beside(question) })),
  ),
});

/** What a reader may use for a question, on average. */
const charactersOf = ({ method, context, questions }: Seen) => {
  const besides = questions.reduce((sum, { beside }) => sum + beside.length, 0);
  return { method, characters: Math.round(context.length + besides / questions.length) };
};

interface Wanted {
  folder: AnswerFolder;
  settings: Settings;
  /** Of each conversation. */
  questions: number;
}

async function measure(wanted: Wanted, recording: Recording): Promise<Measured> {
  const { id } = recording;
  const turns = turnsOf(recording);
  const { repeat: count, keepFraction } = wanted.settings.recap;
  const foldedTurns = slicesOf(turns, { count, keepFraction }).at(-1)?.folded ?? 0;
  const keepFrom = turns[foldedTurns]?.firstIndex ?? recording.turns.length;
  const questions = foldedQuestions(recording, { keepFrom, count: wanted.questions });
  if (questions.length === 0)
    throw new ArgumentError(
      `${id} has no "probes" whose evidence is folded: its first ${keepFrom} contents are`,
    );
  const contexts = await leftContexts(wanted, recording, foldedTurns);
  const seen = await Promise.all(contexts.map((context) => seenBy(context, questions)));
  const marks = await readAndJudge(wanted.folder, { id, seen, questions });
  return { id, characters: seen.map(charactersOf), marks };
}

async function printMarks({ marks = '', data, answers, json }: Values): Promise<void> {
  if (data !== undefined || answers !== undefined || json !== undefined)
    throw new ArgumentError('--marks measures nothing: leave --data, --answers and --json out');
  const measured = parseMarks(marks, await readGivenFile('--marks', marks));
  process.stdout.write(`${scoresTable(measured)}\n`);
}

async function run(): Promise<void> {
  const values = readOptions(process.argv.slice(2), options);
  if (values.help) return void process.stdout.write(`${help}\n`);
  if (values.marks !== undefined) return printMarks(values);
  const data = required('--data', values.data);
  const folder = openAnswerFolder({
    folder: required('--answers', values.answers),
    isLoose: false,
  });
  const recordings = await readRecordings(data, listOf(values.ids));
  const wanted = {
    folder,
    settings: readSettings(values),
    questions: readInteger('--questions', values.questions),
  };
  await checkWritable('--json', values.json);
  const measured: Measured[] = [];
  for (const recording of recordings) {
    try {
      measured.push(await measure(wanted, recording));
    } catch (error) {
      if (!(error instanceof AnswerMissingError)) throw error;
    }
  }
  if (measured.length > 0) process.stdout.write(`${scoresTable(measured)}\n`);
  process.stdout.write(answersText(folder));
  process.exitCode = exitCode(true, folder);
  if (values.json !== undefined && process.exitCode === 0)
    await writeFile(values.json, marksText(measured));
}

await runEvalCommand(run);
