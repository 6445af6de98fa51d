import { basename } from 'node:path';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { terminalText } from '#infra/terminal-text.ts';
import { checkWritable, readGivenFile, runCommand } from '#infra/command-line.ts';
import { evalHelp, readEvalSettings, type EvalSettings, type ScoreName } from './eval-settings.ts';
import type { DataFile, Scorer } from './scorer.ts';
import { scoreAttacks } from './scores/attacks.ts';
import { scoreGolden } from './scores/golden.ts';
import { scoreHarm } from './scores/harm.ts';
import { scoreReaders } from './scores/readers.ts';
import { scoreRecall } from './scores/recall.ts';
import { scoreTokens } from './scores/tokens.ts';

const scorers: Readonly<Record<ScoreName, Scorer>> = {
  attacks: scoreAttacks,
  golden: scoreGolden,
  harm: scoreHarm,
  readers: scoreReaders,
  recall: scoreRecall,
  tokens: scoreTokens,
};

const write = (text: string): void => void process.stdout.write(terminalText(text));

async function readFiles(paths: readonly string[]): Promise<DataFile[]> {
  const files: DataFile[] = [];
  for (const path of paths) {
    if (existsSync(path))
      files.push({
        name: basename(path, '.jsonl'),
        path,
        text: await readGivenFile('--data', path),
      });
    else write(`left out: there is no file ${path}\n`);
  }
  return files;
}

async function evaluate(settings: EvalSettings): Promise<number> {
  const { answers, jsonPath } = settings;
  await checkWritable('--json', jsonPath);
  const files = await readFiles(settings.dataPaths);
  if (files.length === 0) {
    write('nothing to do\n');
    return 0;
  }
  const { text, figures, isGood } = await scorers[settings.score](settings, files);
  if (text !== '') write(`${text}\n`);
  if (answers !== undefined) write(answers.describe());
  if (jsonPath !== undefined && figures !== undefined)
    await writeFile(jsonPath, `${JSON.stringify(figures, undefined, 2)}\n`);
  return answers?.exitCode(isGood) ?? (isGood ? 0 : 1);
}

process.exitCode = await runCommand(evalHelp, async (argv) => {
  const settings = readEvalSettings(argv);
  return settings === 'help' ? 'help' : evaluate(settings);
});
