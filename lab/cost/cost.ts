import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runCommand } from '#test/support/processes/run-command.ts';
import { registry } from '#shared/models/registry.ts';
import { checkWritable, readRecordings } from '#lab/eval/given-files.ts';
import {
  ArgumentError,
  readChoice,
  readOptions,
  readFraction,
  readInteger,
} from '#lab/eval/replay/replay-arguments.ts';
import { computeCost } from './compute-cost.ts';
import { costChart } from './cost-chart.ts';
import { costPage } from './cost-page.ts';
import type { CostRun } from './cost-run.ts';
import { countReplay } from './count-replay.ts';
import { madeUpDialogue } from './made-up-dialogue.ts';
import { readShapes, recordedShapes } from './shape.ts';

const help = `Usage: npm run cost -- [--model MODEL] [--turns N] [--hit-rate R] [--message-tokens N] [--answer-tokens N]
                  [--overhead-tokens N] [--data FILE.jsonl [--profile NAME]] [--json OUT] [--report]

Says what a thousand turns cost in US dollars: with naive resending, as Gemini CLI compacts, with Recap, and at the least.
Everything is computed; operations and the summariser's instruction are counted in a short replay on this machine. Nothing
is sent elsewhere.

  --model MODEL         of the conversations; default gemini-3.5-flash
  --turns N             of the chat; default 2000. Other conversations end when as much was said in them
  --hit-rate R          share of prompts that the cache serves, 0 to 1; default 0.5
  --message-tokens N    of the chat; default 60
  --answer-tokens N     of the chat; default 250
  --overhead-tokens N   system instruction and tools; default 500
  --data FILE.jsonl     recorded conversations in place of the usual ones
  --profile NAME        of them: assistant (default) or coding
  --json OUT            write all figures to this file
  --report              write docs/benchmarks/cost.md and its picture
  --help                this text

Exit code: 0; 2 wrong arguments.`;

const options = {
  model: { type: 'string', default: 'gemini-3.5-flash' },
  turns: { type: 'string' },
  'hit-rate': { type: 'string', default: '0.5' },
  'message-tokens': { type: 'string' },
  'answer-tokens': { type: 'string' },
  'overhead-tokens': { type: 'string' },
  data: { type: 'string' },
  profile: { type: 'string', default: 'assistant' },
  json: { type: 'string' },
  report: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** So many turns are replayed, and so many tokens are let pass between two compactions of them. */
const REPLAYED_TURNS = 120;
const REPLAYED_THRESHOLD_TOKENS = 12_000;

const reportFolder = fileURLToPath(new URL('../../docs/benchmarks', import.meta.url));

async function write(run: CostRun): Promise<void> {
  const [{ drawChart }, { format }] = await Promise.all([
    import('../bench/report/draw-chart.ts'),
    import('prettier'),
  ]);
  const svg = await drawChart(costChart(run));
  await mkdir(reportFolder, { recursive: true });
  await writeFile(`${reportFolder}/cost.svg`, `${svg}\n`);
  const page = await format(costPage(run), {
    parser: 'markdown',
    printWidth: 120,
    proseWrap: 'always',
  });
  await writeFile(`${reportFolder}/cost.md`, page);
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const size = (flag: 'turns' | 'message-tokens' | 'answer-tokens' | 'overhead-tokens') =>
    readInteger(`--${flag}`, values[flag]);
  const sizes = {
    messageTokens: size('message-tokens') ?? 60,
    answerTokens: size('answer-tokens') ?? 250,
  };
  const asked = {
    model: readChoice('--model', values.model, Object.keys(registry)),
    hitFraction: readFraction('--hit-rate', values['hit-rate'], '[0, 1]'),
    overheadTokens: size('overhead-tokens') ?? 500,
  };
  if (values.data !== undefined && values.report)
    throw new ArgumentError(
      '--report writes the page of the usual conversations: leave --data out',
    );
  const profile = readChoice('--profile', values.profile, ['assistant', 'coding']);
  const shapes =
    values.data === undefined
      ? readShapes({ ...sizes, turnCount: size('turns') ?? 2_000 })
      : recordedShapes(await readRecordings(values.data), profile);
  await checkWritable('--json', values.json);
  process.stderr.write(`counting a replay of ${REPLAYED_TURNS} turns …\n`);
  const { turn, compaction } = await countReplay(madeUpDialogue(REPLAYED_TURNS, sizes), {
    model: asked.model,
    thresholdTokens: REPLAYED_THRESHOLD_TOKENS,
  });
  const { instructionTokens } = compaction;
  const run = {
    ...computeCost(shapes, { ...asked, instructionTokens }, { turn, compaction }),
    ...sizes,
  };
  process.stdout.write(costPage(run));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(run, null, 2)}\n`);
  if (values.report) await write(run);
  return 0;
});
