import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { singleLineJson } from '#shared/json-text.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { answersText, exitCode, openAnswerFolder } from './answers/answer-folder.ts';
import { type EvalArguments, evalHelp, parseEvalArguments } from './eval-arguments.ts';
import { startEvalBench } from './run/eval-bench.ts';
import { evaluate, type EvalResult } from './run/eval-run.ts';
import { evalText, priceOf } from './run/eval-table.ts';
import { parseRecordings } from './replay/recording.ts';
import { ArgumentError } from './replay/replay-arguments.ts';
import { runEvalCommand } from './run-eval-command.ts';

const write = (text: string): void => void process.stdout.write(terminalText(text));

async function runEval(wanted: EvalArguments): Promise<void> {
  if (!existsSync(wanted.dataPath)) {
    write(`nothing to do: there is no file ${wanted.dataPath}\n`);
    return;
  }
  const recordings = parseRecordings(await readFile(wanted.dataPath, 'utf8'))
    .filter(({ id }) => wanted.ids.length === 0 || wanted.ids.includes(id))
    .slice(0, wanted.limit);
  if (recordings.length === 0) throw new ArgumentError('the data file has none of these --ids');
  const answerFolder = wanted.answers && openAnswerFolder(wanted.answers);
  const bench = await startEvalBench({ ...wanted, answerFolder }, process.env);
  const results: EvalResult[] = [];
  try {
    for (const recording of recordings) {
      results.push(await evaluate(bench, wanted, recording));
      process.stderr.write(`${results.length}/${recordings.length} ${recording.id}\n`);
    }
  } finally {
    await bench.stop();
  }
  const lines = results.flatMap(({ id, keepFrom, snapshot }) =>
    snapshot === undefined ? [] : [`${singleLineJson({ id, keepFrom, snapshot })}\n`],
  );
  await writeFile(wanted.outPath, lines.join(''));
  write(`${evalText(results, priceOf(bench.model, wanted.price))}\n`);
  if (answerFolder) write(answersText(answerFolder));
  const isGood = lines.length === results.length;
  process.exitCode = exitCode(isGood, answerFolder);
}

await runEvalCommand(async () => {
  const wanted = parseEvalArguments(process.argv.slice(2));
  if (wanted === 'help') write(`${evalHelp}\n`);
  else await runEval(wanted);
});
