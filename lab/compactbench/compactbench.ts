import { writeFile } from 'node:fs/promises';
import { aligned } from '#infra/text-table.ts';
import {
  answersText,
  exitCode,
  openAnswerFolder,
  type AnswerFolder,
} from '../eval/answers/answer-folder.ts';
import { askRecorded } from '../eval/answers/ask-recorded.ts';
import { listOf, required } from '../eval/eval-arguments.ts';
import { checkWritable } from '../eval/given-files.ts';
import {
  ArgumentError,
  readChoice,
  readOptions,
  readInteger,
} from '../eval/replay/replay-arguments.ts';
import { startEvalBench } from '../eval/run/eval-bench.ts';
import { readOtherSummarisers } from '../eval/run/other-summariser.ts';
import { runEvalCommand } from '../eval/run-eval-command.ts';
import { readCases, type Case } from './cases.ts';
import { hybridLedger, naiveSummary, promptMethod, recap, type Compact } from './methods.ts';
import { readEvaluationTexts, runCase, type MeasuredArtifact } from './run-case.ts';
import { summarise } from './score.ts';

const help = `Usage: npm run eval:compactbench -- --data FOLDER --answers FOLDER [options]

Measures compaction with CompactBench (github.com/compactbench/compactbench, Apache-2.0): makes its public cases, compacts
them with each method, asks their questions of what is left, and scores the answers as CompactBench does.

  --data FOLDER            a checkout of CompactBench
  --answers FOLDER         recorded answers; a prompt without one is written there
  --suite NAME             elite_practice (default) or starter
  --difficulty NAME        easy, medium (default), hard or elite
  --cases A,B              templates, by key (default: all of the suite)
  --cycles N               drift cycles after the first (default 2)
  --methods LIST           of recap, naive-summary, hybrid-ledger (default: all)
  --prompt NAME=FILE       one more method: the instruction of another summariser; several times for several
  --json OUT               once all is scored: write the figures to this file
  --help                   this text

Exit code: 0 all is scored; 2 wrong arguments; 3 prompts have no answer.`;

const options = {
  data: { type: 'string' },
  answers: { type: 'string' },
  suite: { type: 'string', default: 'elite_practice' },
  difficulty: { type: 'string', default: 'medium' },
  cases: { type: 'string', default: '' },
  cycles: { type: 'string', default: '2' },
  methods: { type: 'string', default: 'recap,naive-summary,hybrid-ledger' },
  prompt: { type: 'string', multiple: true },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

interface Place {
  checkout: string;
  folder: AnswerFolder;
}

type MakeCompact = (wanted: Case) => Promise<{ compact: Compact; stop?: () => Promise<void> }>;

async function startRecap(folder: AnswerFolder, { id }: Case) {
  const settings = { model: 'files', vices: {}, seed: '1', strategy: 'ledger' as const };
  const bench = await startEvalBench({ ...settings, answerFolder: folder }, {});
  return { compact: await recap(bench, id), stop: () => bench.stop() };
}

/** The methods by name. Throws ArgumentError for an unknown one. */
async function openMethods(
  { checkout, folder }: Place,
  names: readonly string[],
  prompts: readonly string[],
): Promise<Map<string, MakeCompact>> {
  const ask = askRecorded(folder);
  const known = new Map<string, MakeCompact>([
    ['recap', (wanted) => startRecap(folder, wanted)],
    ['naive-summary', async () => ({ compact: await naiveSummary(checkout, ask) })],
    ['hybrid-ledger', async () => ({ compact: await hybridLedger(checkout, ask) })],
  ]);
  const methods = new Map<string, MakeCompact>();
  for (const name of names) {
    const method = known.get(name);
    if (method === undefined)
      throw new ArgumentError(`--methods takes ${[...known.keys()].join(', ')}, not ${name}`);
    methods.set(name, method);
  }
  for (const { name, system } of await readOtherSummarisers(prompts, {
    requests: 0,
    names: [...known.keys()],
  }))
    methods.set(name, async () => ({ compact: promptMethod(system, ask) }));
  return methods;
}

/** The cases that are scored to the last cycle. */
async function measureMethod(
  { checkout, folder }: Place,
  [method, make]: [string, MakeCompact],
  cases: readonly Case[],
) {
  const texts = await readEvaluationTexts(checkout);
  const measured: { id: string; cycles: MeasuredArtifact[] }[] = [];
  for (const wanted of cases) {
    folder.beginConversation({ id: wanted.id, strategy: method });
    const { compact, stop } = await make(wanted);
    try {
      const beforeCycle = (cycle: number): void => folder.beginGeneration(cycle + 1);
      const ask = askRecorded(folder);
      const cycles = await runCase(wanted, { texts, ask, compact, beforeCycle });
      if (cycles.length > wanted.continuations.length) measured.push({ id: wanted.id, cycles });
    } finally {
      await stop?.();
    }
  }
  return { method, measured, ...summarise(measured.map(({ cycles }) => cycles)) };
}

const difficulties = ['easy', 'medium', 'hard', 'elite'] as const;

/** The cases of a checkout, all or those that are asked for. Throws ArgumentError for a checkout or a case that is none. */
async function chosenCases(ids: readonly string[], read: () => Promise<Case[]>): Promise<Case[]> {
  let all: Case[];
  try {
    all = await read();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ArgumentError(
      `--data takes a checkout of CompactBench, --suite one of its suites: ${reason}`,
      { cause },
    );
  }
  const known = all.map(({ id }) => id);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0 || all.length === 0)
    throw new ArgumentError(
      `--cases: the suite has no case ${unknown.join(', ')}; it has ${known.join(', ')}`,
    );
  return all.filter(({ id }) => ids.length === 0 || ids.includes(id));
}

type Measured = Awaited<ReturnType<typeof measureMethod>>;

const percent = (value: number): string => (100 * value).toFixed(1);

function table(methods: readonly Measured[]): string {
  const titles = [
    'method',
    'cases',
    'refused',
    'score',
    'per cycle',
    'drift',
    'rules',
    'ratio',
    'tokens',
  ];
  const rows = methods.map(({ method, measured, ...figures }) => [
    method,
    String(figures.cases),
    String(measured.flatMap(({ cycles }) => cycles).filter(({ refusal }) => refusal).length),
    percent(figures.score),
    figures.perCycle.map(percent).join(' '),
    percent(figures.driftResistance),
    percent(figures.constraintRetention),
    figures.compressionRatio.toFixed(2),
    figures.contextTokens.toFixed(0),
  ]);
  return aligned([titles, ...rows]);
}

async function run(): Promise<void> {
  const values = readOptions(process.argv.slice(2), options);
  if (values.help) return void process.stdout.write(`${help}\n`);
  const checkout = required('--data', values.data);
  const answers = required('--answers', values.answers);
  const folder = openAnswerFolder({ folder: answers, isLoose: false });
  const cycles = readInteger('--cycles', values.cycles);
  const { suite } = values;
  if (!/^[\w-]+$/.test(suite)) throw new ArgumentError('--suite takes a name of letters');
  const difficulty = readChoice('--difficulty', values.difficulty, difficulties);
  const cases = await chosenCases(listOf(values.cases), () =>
    readCases(checkout, suite, { difficulty, cycles }),
  );
  const place = { checkout, folder };
  const methods = await openMethods(place, listOf(values.methods), values.prompt ?? []);
  if (methods.size === 0)
    throw new ArgumentError('nothing to measure: give --methods, --prompt or both');
  await checkWritable('--json', values.json);
  const measured: Measured[] = [];
  for (const method of methods) measured.push(await measureMethod(place, method, cases));
  process.stdout.write(`${table(measured)}\n${answersText(folder)}`);
  process.exitCode = exitCode(true, folder);
  if (values.json !== undefined && process.exitCode === 0)
    await writeFile(values.json, `${JSON.stringify({ methods: measured }, undefined, 2)}\n`);
}

await runEvalCommand(run);
