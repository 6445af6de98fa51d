import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { terminalText } from '#infra/terminal-text.ts';
import { answersText, exitCode, openAnswerFolder } from './answers/answer-folder.ts';
import {
  parseModeArguments,
  type ModeArguments,
  type ModeDefaults,
  type Strategy,
} from './eval-mode-arguments.ts';
import { type BenchSettings, type EvalBench, startEvalBench } from './run/eval-bench.ts';
import { createProgressBar, type ProgressBar } from './replay/progress-bar.ts';
import { parseRecordings, type Recording } from './replay/recording.ts';
import { runEvalCommand } from './run-eval-command.ts';

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

/** One recording of a file, compacted with one strategy. */
export interface Task {
  bench: EvalBench;
  strategy: Strategy;
  file: string;
  recording: Recording;
}

/**
 * Runs `measure` for every wanted recording of every file, strategy by strategy. What waits for answers is left out of
 * the results.
 */
export async function forEachRecording<Result>(
  wanted: ModeSettings,
  files: readonly DataFile[],
  measure: (task: Task) => Promise<Result>,
): Promise<Result[]> {
  const recordings = files.flatMap(({ name, text }) =>
    parseRecordings(text)
      .filter(({ id }) => wanted.ids.length === 0 || wanted.ids.includes(id))
      .slice(0, wanted.limit)
      .map((recording) => ({ file: name, recording })),
  );
  const bar = progressOf(recordings.length * wanted.strategies.length);
  const results: Result[] = [];
  for (const strategy of wanted.strategies) {
    const bench = await startEvalBench({ ...wanted, strategy }, {});
    try {
      for (const { file, recording } of recordings) {
        const result = await measure({ bench, strategy, file, recording });
        if (bench.answers?.isWaiting() !== true) results.push(result);
        bar.advance(1, `${strategy} ${recording.id}`);
      }
    } finally {
      await bench.stop();
    }
  }
  bar.end();
  return results;
}
