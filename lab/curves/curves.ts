import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerOptions, answerOptionsHelp, readAnswers } from '../eval/answers/answer-arguments.ts';
import {
  answersText,
  exitCode,
  openAnswerFolder,
  type AnswerFolder,
} from '../eval/answers/answer-folder.ts';
import { listOf, required } from '../eval/eval-arguments.ts';
import { startEvalBench } from '../eval/run/eval-bench.ts';
import type { Strategy } from '../eval/eval-mode-arguments.ts';
import { progressOf } from '../eval/eval-mode.ts';
import { evaluate, type EvalResult } from '../eval/run/eval-run.ts';
import { parseRecordings, type Recording } from '../eval/replay/recording.ts';
import { readChoice, readOptions, readInteger } from '../eval/replay/replay-arguments.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { axes, pointsOf, type PointSettings } from './axes.ts';
import { curvesChart, curvesPage, curveTables, type CurvePoint } from './curves-report.ts';
import { loadMeasure, meanOf, scoresOf } from './score.ts';

const help = `Usage: npm run eval:curves -- --data FILE.jsonl --measure MODULE.mjs [options]

Compacts recorded conversations again and again, with one setting varied at a time, and tells what their
snapshots carry: by size of the snapshot, threshold, vices of the summariser and number of compactions.

  --data FILE.jsonl     recorded conversations; several times for several files
  --measure MODULE      module that measures: it exports survival(turns, keepFrom, snapshot) and
                        probeSurvival(turns, probes, keepFrom, snapshot, {other})
  --axes LIST           of ${axes.map(({ name }) => name).join(', ')} (default: all)
  --strategies LIST     ledger, gemini-cli (default both)
  --limit N             only the first N conversations of each file (default 3)
  --model NAME          stand-in (default) or files, which has no vices: leave those axes out
${answerOptionsHelp}
  --seed TEXT           of the stand-in's vices (default 1)
  --json OUT            write the points to this file
  --report              write docs/benchmarks/fidelity.md and its picture; keep its remarks, to be read again
  --help                this text

Exit code: 0 there are figures, or no data file; 2 wrong arguments.`;

const reportFolder = fileURLToPath(new URL('../../docs/benchmarks', import.meta.url));

interface DataSet {
  file: string;
  recordings: Recording[];
}

async function readData(paths: readonly string[], limit: number): Promise<DataSet[]> {
  const sets: DataSet[] = [];
  for (const path of paths) {
    if (!existsSync(path)) {
      process.stdout.write(`left out: there is no file ${path}\n`);
      continue;
    }
    const recordings = parseRecordings(await readFile(path, 'utf8')).slice(0, limit);
    sets.push({ file: basename(path, '.jsonl'), recordings });
  }
  return sets;
}

/** Who summarises. */
interface AnsweredBy {
  seed: string;
  answerFolder?: AnswerFolder | undefined;
}

async function compactAll(
  settings: PointSettings,
  { seed, answerFolder, recordings }: AnsweredBy & { recordings: readonly Recording[] },
): Promise<EvalResult[]> {
  const wanted = {
    ...settings,
    dataPath: '',
    outPath: '',
    keepFraction: 0.3,
    model: 'stand-in',
    seed,
    answerFolder,
    profile: 'assistant' as const,
    limit: Infinity,
    ids: [],
  };
  const bench = await startEvalBench(wanted, {});
  try {
    const results: EvalResult[] = [];
    for (const recording of recordings) results.push(await evaluate(bench, wanted, recording));
    return results;
  } finally {
    await bench.stop();
  }
}

async function writeReport(points: readonly CurvePoint[]): Promise<void> {
  const [{ drawChart }, { format }] = await Promise.all([
    import('../bench/report/draw-chart.ts'),
    import('prettier'),
  ]);
  const svg = await drawChart(curvesChart(points));
  const pagePath = `${reportFolder}/fidelity.md`;
  const [, remarks = ''] = /(What falls short:[^]*)$/u.exec(await readFile(pagePath, 'utf8')) ?? [];
  const written = new Date().toISOString().slice(0, 10);
  const page = curvesPage(points, { written, remarks: remarks.trim() });
  await writeFile(`${reportFolder}/fidelity.svg`, `${svg}\n`);
  await writeFile(
    pagePath,
    await format(page, { parser: 'markdown', printWidth: 120, proseWrap: 'always' }),
  );
}

const options = {
  data: { type: 'string', multiple: true },
  measure: { type: 'string' },
  axes: { type: 'string', default: axes.map(({ name }) => name).join(',') },
  strategies: { type: 'string', default: 'ledger,gemini-cli' },
  limit: { type: 'string', default: '3' },
  seed: { type: 'string', default: '1' },
  model: { type: 'string', default: 'stand-in' },
  ...answerOptions,
  json: { type: 'string' },
  report: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface Wanted extends AnsweredBy {
  dataPaths: readonly string[];
  measurePath: string;
  axisNames: readonly string[];
  strategies: Strategy[];
  limit: number;
}

async function measureAll(wanted: Wanted): Promise<CurvePoint[]> {
  const measure = await loadMeasure(wanted.measurePath);
  const sets = await readData(wanted.dataPaths, wanted.limit);
  const tasks = axes
    .filter(({ name }) => wanted.axisNames.includes(name))
    .flatMap((axis) =>
      sets.flatMap((set) =>
        pointsOf(axis, wanted.strategies).map((point) => ({ axis: axis.name, ...set, ...point })),
      ),
    );
  const bar = progressOf(tasks.length);
  const points: CurvePoint[] = [];
  for (const { axis, file, recordings, value, settings } of tasks) {
    const results = await compactAll(settings, { ...wanted, recordings });
    const scores = scoresOf(measure, recordings, results);
    const mean = (key: Parameters<typeof meanOf>[1]) => {
      const found = meanOf(scores, key);
      return found === undefined ? {} : { [key]: found };
    };
    points.push({
      axis,
      value,
      strategy: settings.strategy,
      file,
      conversations: recordings.length,
      failed: scores.filter(({ carried }) => carried === undefined).length,
      ...mean('carried'),
      ...mean('answered'),
      ...mean('invented'),
      ...mean('snapshotTokens'),
    });
    bar.advance(1, `${axis} ${file} ${settings.strategy} ${value}`);
  }
  bar.end();
  return points;
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const names = axes.map(({ name }) => name);
  const model = readChoice('--model', values.model, ['stand-in', 'files']);
  const answers = readAnswers(model, values);
  const answerFolder = answers && openAnswerFolder(answers);
  const points = await measureAll({
    dataPaths: [required('--data', values.data?.[0]), ...(values.data ?? []).slice(1)],
    measurePath: required('--measure', values.measure),
    axisNames: listOf(values.axes).map((each) => readChoice('--axes', each, names)),
    strategies: listOf(values.strategies).map((each) =>
      readChoice('--strategies', each, ['ledger', 'gemini-cli']),
    ),
    limit: readInteger('--limit', values.limit),
    seed: values.seed,
    answerFolder,
  });
  if (points.length === 0) return 0;
  process.stdout.write(curveTables(points));
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify(points, null, 2)}\n`);
  if (values.report) await writeReport(points);
  if (answerFolder) process.stdout.write(answersText(answerFolder));
  return exitCode(true, answerFolder);
});
