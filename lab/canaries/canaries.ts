import { writeFile } from 'node:fs/promises';
import {
  answersText,
  exitCode,
  openAnswerFolder,
  type AnswerFolder,
} from '../eval/answers/answer-folder.ts';
import { answerOptions, answerOptionsHelp, readAnswers } from '../eval/answers/answer-arguments.ts';
import { listOf, readVices, required } from '../eval/eval-arguments.ts';
import { checkWritable, readRecordings } from '../eval/given-files.ts';
import type { Recording } from '../eval/replay/recording.ts';
import {
  ArgumentError,
  readChoice,
  readOptions,
  readFraction,
  readInteger,
} from '../eval/replay/replay-arguments.ts';
import { startEvalBench } from '../eval/run/eval-bench.ts';
import { readOtherSummarisers } from '../eval/run/other-summariser.ts';
import { runEvalCommand } from '../eval/run-eval-command.ts';
import { canaryTable, measureCanaries, type Measured } from './measure.ts';
import {
  compactWithPrompt,
  compactWithRecap,
  type Compacted,
  type MethodSettings,
} from './methods.ts';
import { drawCanaries, MAXIMUM_EACH, plantCanaries } from './plant.ts';

const help = `Usage: npm run eval:canaries -- --data FILE.jsonl --id ID [options]

Plants sentences with values that nobody can guess into the first messages of a recorded conversation, compacts it again
and again while it grows, and tells after each round which of them the snapshot still says.

  --data FILE.jsonl        recorded conversations
  --id ID                  which of them (default: the first)
  --each N                 sentences of each type, 1 to ${MAXIMUM_EACH} (default 2)
  --rounds N               compactions (default 5)
  --keep F                 share of the text that stays word for word (default 0.1)
  --snapshot-tokens N      size of a snapshot (default: the policy's; another summariser is told none)
  --seed TEXT              of the sentences, their values and places, and the stand-in's vices (default 1)
  --model NAME             stand-in (default) or files
${answerOptionsHelp}
  --vices LIST             of the stand-in: forgetful=0.3,…; dense: as capable models write
  --methods LIST           recap (default), or nothing
  --prompt NAME=FILE       of --model files: one more method, the instruction of another summariser; several times for
                           several. Behind a line --- may stand what is asked at the end of the history, behind a
                           second one what is asked there once an earlier summary stands in it
  --json OUT               once all is measured: write the canaries and what became of them to this file
  --help                   this text

Exit code: 0 all is measured; 2 wrong arguments; 3 prompts have no answer.`;

const options = {
  data: { type: 'string' },
  id: { type: 'string' },
  each: { type: 'string', default: '2' },
  rounds: { type: 'string', default: '5' },
  keep: { type: 'string', default: '0.1' },
  'snapshot-tokens': { type: 'string' },
  seed: { type: 'string', default: '1' },
  model: { type: 'string', default: 'stand-in' },
  ...answerOptions,
  vices: { type: 'string' },
  methods: { type: 'string', default: 'recap' },
  prompt: { type: 'string', multiple: true },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof readOptions<typeof options>>;

function readSettings(values: Values): MethodSettings & { each: number } {
  const snapshotTokens = readInteger('--snapshot-tokens', values['snapshot-tokens']);
  const each = readInteger('--each', values.each);
  if (each > MAXIMUM_EACH) throw new ArgumentError(`--each takes at most ${MAXIMUM_EACH}`);
  return {
    each,
    rounds: readInteger('--rounds', values.rounds),
    keepFraction: readFraction('--keep', values.keep, '(0, 1)'),
    seed: values.seed,
    ...(snapshotTokens !== undefined && { snapshotTokens }),
  };
}

type Compact = (recording: Recording) => Promise<Compacted>;

function recap(
  values: Values,
  settings: MethodSettings,
  answerFolder: AnswerFolder | undefined,
): Compact {
  const { seed, model } = values;
  const vices = readVices(values.vices ?? '');
  return async (recording) => {
    const wanted = { model, vices, seed, strategy: 'ledger' as const, answerFolder };
    const bench = await startEvalBench(wanted, {});
    try {
      return await compactWithRecap(bench, recording, settings);
    } finally {
      await bench.stop();
    }
  };
}

/** The methods by name. Throws ArgumentError for an unknown one. */
async function openMethods(
  values: Values,
  settings: MethodSettings,
  folder: AnswerFolder | undefined,
): Promise<Map<string, Compact>> {
  const methods = new Map<string, Compact>();
  for (const name of listOf(values.methods))
    methods.set(readChoice('--methods', name, ['recap']), recap(values, settings, folder));
  for (const other of await readOtherSummarisers(values.prompt ?? [], { requests: 2 })) {
    if (folder === undefined) throw new ArgumentError('--prompt needs --model files');
    methods.set(other.name, (recording) => {
      folder.beginConversation({ id: recording.id, strategy: other.name });
      return compactWithPrompt(folder, other, { recording, settings });
    });
  }
  if (methods.size === 0)
    throw new ArgumentError('nothing is measured: name a method with --methods or --prompt');
  return methods;
}

async function run(): Promise<void> {
  const values = readOptions(process.argv.slice(2), options);
  if (values.help) return void process.stdout.write(`${help}\n`);
  const settings = readSettings(values);
  const model = readChoice('--model', values.model, ['stand-in', 'files']);
  if (model === 'files' && values.vices !== undefined)
    throw new ArgumentError("--vices are the stand-in's: leave them out with --model files");
  const answers = readAnswers(model, values);
  const folder = answers && openAnswerFolder(answers);
  const data = required('--data', values.data);
  const [recording] = await readRecordings(data, values.id === undefined ? [] : [values.id]);
  if (!recording) throw new ArgumentError(`${data} holds no conversation`);
  const methods = await openMethods(values, settings, folder);
  await checkWritable('--json', values.json);
  const canaries = drawCanaries(recording, settings);
  const planted = plantCanaries(recording, canaries, settings);
  const measured: Measured[] = [];
  for (const [method, compact] of methods) {
    const left = await measureCanaries(method, canaries, await compact(planted));
    measured.push(left);
    process.stdout.write(`${canaryTable(left, settings.rounds)}\n\n`);
  }
  if (folder) process.stdout.write(answersText(folder));
  process.exitCode = exitCode(true, folder);
  if (values.json !== undefined && process.exitCode === 0) {
    const figures = { id: recording.id, settings, methods: measured };
    await writeFile(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  }
}

await runEvalCommand(run);
