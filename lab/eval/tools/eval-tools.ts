import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { createProgressBar } from '../replay/progress-bar.ts';
import { parseRecordings } from '../replay/recording.ts';
import { parseToolsArguments, toolsHelp, type ToolsArguments } from './tool-arguments.ts';
import { dialoguesOf, replayDialogue, type DialogueToReplay } from './tool-dialogues.ts';
import { defectsIn, toolsText, type ReplayedFile } from './tool-figures.ts';
import { runEvalCommand } from '../run-eval-command.ts';

const write = (text: string): void => void process.stdout.write(text);
const writeError = (text: string): void => void process.stderr.write(text);

interface FileToReplay {
  file: string;
  dialogues: DialogueToReplay[];
}

async function readFiles(wanted: ToolsArguments): Promise<FileToReplay[]> {
  const files: FileToReplay[] = [];
  for (const path of wanted.dataPaths) {
    if (!existsSync(path)) {
      write(`left out: there is no file ${path}\n`);
      continue;
    }
    const recordings = parseRecordings(await readFile(path, 'utf8'));
    files.push({ file: basename(path, '.jsonl'), dialogues: dialoguesOf(recordings, wanted) });
  }
  return files;
}

async function replayFiles(
  files: readonly FileToReplay[],
  { thresholdTokens }: ToolsArguments,
): Promise<ReplayedFile[]> {
  const all = files.flatMap(({ dialogues }) => dialogues);
  const bar = createProgressBar({
    total: all.reduce((sum, { script }) => sum + script.turns.length, 0),
    isTerminal: process.stderr.isTTY,
    write: writeError,
  });
  const fakeGemini = await startFakeGemini();
  const replayed: ReplayedFile[] = [];
  try {
    for (const { file, dialogues } of files) {
      const done: ReplayedFile = { file, dialogues: [] };
      replayed.push(done);
      for (const dialogue of dialogues) {
        const onTurn = () => bar.advance(1, dialogue.recording.id);
        done.dialogues.push(
          await replayDialogue(dialogue, { fakeGemini, thresholdTokens, onTurn }),
        );
      }
    }
  } finally {
    await fakeGemini.close();
    bar.end();
  }
  return replayed;
}

async function evaluateTools(wanted: ToolsArguments): Promise<void> {
  const files = await readFiles(wanted);
  if (files.length === 0) {
    write('nothing to do\n');
    return;
  }
  const replayed = await replayFiles(files, wanted);
  write(`${toolsText(replayed)}\n`);
  if (wanted.jsonPath !== undefined)
    await writeFile(wanted.jsonPath, `${JSON.stringify(replayed, undefined, 2)}\n`);
  const defects = defectsIn(replayed.flatMap(({ dialogues }) => dialogues));
  if (defects.length > 0) {
    writeError(`not 0, as they must be: ${defects.join(', ')}\n`);
    process.exitCode = 1;
  }
}

await runEvalCommand(async () => {
  const wanted = parseToolsArguments(process.argv.slice(2));
  if (wanted === 'help') write(`${toolsHelp}\n`);
  else await evaluateTools(wanted);
});
