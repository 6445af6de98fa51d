import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '#test/support/processes/run-command.ts';
import { openAnswerFolder } from '#lab/eval/answers/answer-folder.ts';
import { modeOptionsHelp, parseModeArguments } from '#lab/eval/eval-mode-arguments.ts';
import { checkWritable, readRecordings } from '#lab/eval/given-files.ts';
import { ArgumentError } from '#lab/eval/replay/replay-arguments.ts';
import { startEvalBench } from '#lab/eval/run/eval-bench.ts';
import { countCompactions } from './count-compactions.ts';
import { countedPath, type CountedFile } from './counted-file.ts';

const help = `Usage: npm run cost:count -- NAME --data FILE.jsonl --answers DIR [options]

Compacts recorded conversations with the recorded answers of a capable model, and writes what that took to
lab/cost/counted/figures/NAME.json, which npm run cost reads: calls, tokens, sizes of snapshots and turns. No text is written.
A conversation is counted up to the first prompt that has no answer.

${modeOptionsHelp}
  --repeat K               compact K times while the conversation grows (default 1)
                           (default here: --model files, --strategies ledger; with --json the count goes there alone)

Exit code: 0; 2 wrong arguments.`;

/** Folders of other machines are of no use to a reader. */
const readable = (argument: string): string =>
  argument.startsWith('/') ? argument.split('/').at(-1) || argument : argument;

const wrongName = 'the first argument is the name of the count, in small letters';

/** What was counted, and where it goes. */
interface Count {
  counted: CountedFile;
  path: string;
}

async function count(argv: readonly string[]): Promise<Count | 'help'> {
  const [name = '', ...options] = argv;
  const hasName = /^[a-z][a-z-]*$/u.test(name);
  if (!hasName && !argv.includes('--help')) throw new ArgumentError(wrongName);
  const wanted = parseModeArguments(hasName ? options : argv, {
    strategies: 'ledger',
    repeat: '1',
    vices: '',
    model: 'files',
  });
  if (wanted === 'help') return 'help';
  if (wanted.answers === undefined) throw new ArgumentError('--answers is missing');
  const { folder: source, isLoose } = wanted.answers;
  const files = await Promise.all(wanted.dataPaths.map((path) => readRecordings(path)));
  const recordings = files.flatMap((all) =>
    all
      .filter(({ id }) => wanted.ids.length === 0 || wanted.ids.includes(id))
      .slice(0, wanted.limit),
  );
  if (!existsSync(source)) throw new ArgumentError(`--answers ${source} does not exist`);
  openAnswerFolder(wanted.answers);
  await checkWritable('--json', wanted.jsonPath);
  // Prompts without an answer are written beside a copy.
  const folder = await mkdtemp(join(tmpdir(), 'recap-count-'));
  try {
    await cp(source, folder, { recursive: true });
    const answerFolder = openAnswerFolder({ folder, isLoose });
    const bench = await startEvalBench({ ...wanted, strategy: 'ledger', answerFolder }, {});
    const counted: CountedFile = {
      command: `npm run cost:count -- ${argv.map(readable).join(' ')}`,
      profile: wanted.profile,
      compactions: [],
      turns: [],
    };
    try {
      for (const recording of recordings) {
        const { compactions, turns } = await countCompactions(bench, wanted, recording);
        counted.compactions.push(...compactions);
        counted.turns.push(...turns);
      }
    } finally {
      await bench.stop();
    }
    // Nothing would be read of an empty count, and a good one would be lost.
    if (counted.compactions.length === 0)
      throw new ArgumentError(`--answers ${source} answers no compaction of --data`);
    return { counted, path: wanted.jsonPath ?? countedPath(name) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = await runCommand(help, async (argv) => {
  const read = await count(argv);
  if (read === 'help') return 'help';
  const { counted, path } = read;
  await mkdir(dirname(path), { recursive: true });
  const { format } = await import('prettier');
  await writeFile(path, await format(JSON.stringify(counted), { parser: 'json', printWidth: 100 }));
  process.stdout.write(`${counted.compactions.length} compactions counted: ${path}\n`);
  return 0;
});
