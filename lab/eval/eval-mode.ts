import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { terminalText } from '#infra/terminal-text.ts';
import { answersText, exitCode, openAnswerFolder } from './answers/answer-folder.ts';
import {
  compactionOptions,
  compactionOptionsHelp,
  listOf,
  readCompactionArguments,
  required,
  type CompactionArguments,
} from './compaction-arguments.ts';
import { type BenchSettings, type EvalBench, startEvalBench } from './run/eval-bench.ts';
import { createProgressBar, type ProgressBar } from './replay/progress-bar.ts';
import { parseRecordings, type Recording } from './replay/recording.ts';
import { readChoice, readOptions } from './replay/replay-arguments.ts';
import { runEvalCommand } from './run-eval-command.ts';
import { strategyNames, type Strategy } from './strategies.ts';

/** What a command beside `npm run eval` is told. */
export interface ModeArguments extends CompactionArguments {
  /** At least one. */
  dataPaths: string[];
  jsonPath?: string;
  strategies: Strategy[];
}

/** What differs between the commands where nothing is said. */
export interface ModeDefaults {
  /** With a comma between two. */
  strategies: string;
  /** Default: `stand-in`. */
  model?: string;
}

export const modeOptionsHelp = `  --data FILE.jsonl        what to read; several times for several files
  --json OUT               write the figures and examples to this file
  --strategies LIST        ledger, gemini-cli, or both with a comma
${compactionOptionsHelp}`;

const options = {
  data: { type: 'string', multiple: true },
  json: { type: 'string' },
  strategies: { type: 'string' },
  ...compactionOptions,
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line; `'help'` when that was asked for. Throws ArgumentError. */
export function parseModeArguments(
  argv: readonly string[],
  defaults: ModeDefaults,
): ModeArguments | 'help' {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const [first, ...others] = values.data ?? [];
  return {
    dataPaths: [required('--data', first), ...others],
    ...(values.json !== undefined && { jsonPath: values.json }),
    strategies: listOf(values.strategies ?? defaults.strategies).map((each) =>
      readChoice('--strategies', each, strategyNames),
    ),
    ...readCompactionArguments(values, defaults.model),
  };
}

/** A data file that is there. */
export interface DataFile {
  name: string;
  text: string;
}

interface ModeResult {
  /** The table. */
  text: string;
  /** For `--json`. */
  figures: object;
  /** Whether what must hold holds; the exit code tells. */
  isGood: boolean;
}

/** What a command is told, and what answers it. */
export type ModeSettings = ModeArguments & Pick<BenchSettings, 'answerFolder'>;

/** A command beside `npm run eval`. */
export interface Mode {
  help: string;
  defaults: ModeDefaults;
  run(wanted: ModeSettings, files: readonly DataFile[]): Promise<ModeResult>;
}

const write = (text: string): void => void process.stdout.write(terminalText(text));
const writeError = (text: string): void => void process.stderr.write(text);

async function runWanted(mode: Mode, wanted: ModeArguments): Promise<void> {
  const files: DataFile[] = [];
  for (const path of wanted.dataPaths) {
    if (existsSync(path))
      files.push({ name: basename(path, '.jsonl'), text: await readFile(path, 'utf8') });
    else write(`left out: there is no file ${path}\n`);
  }
  if (files.length === 0) {
    write('nothing to do\n');
    return;
  }
  const answerFolder = wanted.answers && openAnswerFolder(wanted.answers);
  const { text, figures, isGood } = await mode.run({ ...wanted, answerFolder }, files);
  write(`${text}\n`);
  if (answerFolder) write(answersText(answerFolder));
  if (wanted.jsonPath !== undefined)
    await writeFile(wanted.jsonPath, `${JSON.stringify(figures, undefined, 2)}\n`);
  process.exitCode = exitCode(isGood, answerFolder);
}

/** Runs a command with the arguments of the process: 0 good, 1 not, 2 wrong arguments, 3 answers are missing. */
export async function runMode(mode: Mode): Promise<void> {
  await runEvalCommand(async () => {
    const wanted = parseModeArguments(process.argv.slice(2), mode.defaults);
    if (wanted === 'help') write(`${mode.help}\n`);
    else await runWanted(mode, wanted);
  });
}

/** A bar on the error output, so that the table can be redirected. */
export const progressOf = (total: number): ProgressBar =>
  createProgressBar({ total, isTerminal: process.stderr.isTTY, write: writeError });

/** The wanted recordings of all files. */
export const recordingsOf = (
  { ids, limit }: Pick<ModeArguments, 'ids' | 'limit'>,
  { text }: DataFile,
): Recording[] =>
  parseRecordings(text)
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .slice(0, limit);

/** Runs `work` with a bench for each wanted strategy. */
export async function forEachStrategy(
  wanted: ModeSettings & Pick<BenchSettings, 'vices'>,
  work: (bench: EvalBench) => Promise<void>,
): Promise<void> {
  for (const strategy of wanted.strategies) {
    const bench = await startEvalBench({ ...wanted, strategy }, process.env);
    try {
      await work(bench);
    } finally {
      await bench.stop();
    }
  }
}
