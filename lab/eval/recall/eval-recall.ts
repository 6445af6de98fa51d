import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseRecallArguments, recallHelp, type RecallArguments } from './recall-arguments.ts';
import { recallCaseOf } from './recall-cases.ts';
import { recallRows, recallText, type RecallRow } from './recall-figures.ts';
import { libraryRanker, ownRanker } from './recall-library.ts';
import { evidenceOf, evidenceShares } from './recall-evidence.ts';
import { parseRecordings, type Recording } from '../replay/recording.ts';
import { runEvalCommand } from '../run-eval-command.ts';

const write = (text: string): void => void process.stdout.write(text);

async function evaluateRecall(wanted: RecallArguments): Promise<void> {
  const rows: RecallRow[] = [];
  const asked: Recording[] = [];
  for (const path of wanted.dataPaths) {
    if (!existsSync(path)) {
      write(`${path} is not there: nothing to look up\n`);
      continue;
    }
    const recordings = parseRecordings(await readFile(path, 'utf8'));
    asked.push(...recordings);
    const cases = recordings
      .map((recording) => recallCaseOf(recording, wanted.tailTokens))
      .filter(({ probes }) => probes.length > 0);
    rows.push(
      ...recallRows(basename(path, '.jsonl'), cases, { own: ownRanker, library: libraryRanker }),
    );
  }
  if (rows.length > 0) write(`${recallText(rows)}\n`);
  const found = evidenceOf(asked);
  const evidence = evidenceShares(found);
  if (found.questions > 0)
    write(
      `automatic recall: evidence within 800 characters ${evidence[800]}, within 1,500 ${evidence[1500]} (${found.questions} questions)\n`,
    );
  if (wanted.jsonPath !== undefined)
    await writeFile(wanted.jsonPath, `${JSON.stringify({ rows, evidence }, undefined, 2)}\n`);
}

await runEvalCommand(async () => {
  const wanted = parseRecallArguments(process.argv.slice(2));
  if (wanted === 'help') write(`${recallHelp}\n`);
  else await evaluateRecall(wanted);
});
