import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compressorModel } from '#shared/models/retirement.ts';
import { resolvePolicy } from '#shared/compaction/policy/policy.ts';
import type { ModelPrice } from '#shared/models/model-entry.ts';
import { knownPrice } from '#shared/models/find-price.ts';
import { parseConfig } from '#functions/config.ts';
import { ArgumentError, readCommandLine, readInteger } from '../eval/replay/replay-arguments.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { cloudPrices } from './cloud-prices.ts';
import {
  billOf,
  cheapest,
  gridOf,
  type Counted,
  type Dialogue,
  type Strategy,
} from './cost-model.ts';
import { costChart, costPage, type CostRun } from './cost-report.ts';
import { countReplay } from './count-replay.ts';
import { madeUpDialogue } from './made-up-dialogue.ts';

const help = `Usage: npm run cost -- [--model MODEL] [--turns N] [--hit-rate R] [--message-tokens N] [--answer-tokens N]
                  [--overhead-tokens N] [--json OUT] [--report]

Says what a thousand turns cost in US dollars: with naive resending, as Gemini CLI compacts, and with Recap, over
thresholds and tails. Operations and calls are counted in a short replay on this machine; nothing is sent elsewhere.

  --model MODEL         of the conversation; default gemini-3.5-flash
  --turns N             of the conversation; default 2000
  --hit-rate R          share of prompts that the cache serves, 0 to 1; default 0.5
  --message-tokens N    default 60
  --answer-tokens N     default 250
  --overhead-tokens N   system instruction and tools; default 500
  --json OUT            write all figures to this file
  --report              write docs/benchmarks/cost.md and its pictures
  --help                this text

Exit code: 0; 2 wrong arguments.`;

const options = {
  model: { type: 'string', default: 'gemini-3.5-flash' },
  turns: { type: 'string' },
  'hit-rate': { type: 'string', default: '0.5' },
  'message-tokens': { type: 'string' },
  'answer-tokens': { type: 'string' },
  'overhead-tokens': { type: 'string' },
  json: { type: 'string' },
  report: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const THRESHOLDS = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256].map((each) => each * 1_000);
const TAILS = [1, 2, 4, 8, 16].map((each) => each * 1_000);
/** Gemini CLI asks at half of the window, keeps 30 % and reads the whole history in both of its calls. */
const CLI = { thresholdFraction: 0.5, keptFraction: 0.3, calls: 2, readFactor: 2 };
/** So many turns are replayed, and so many tokens are let pass between two compactions of them. */
const REPLAYED_TURNS = 120;
const REPLAYED_THRESHOLD_TOKENS = 12_000;

const reportFolder = fileURLToPath(new URL('../../docs/benchmarks', import.meta.url));

function priced(model: string): ModelPrice {
  const price = knownPrice(model, verifiedModels);
  if (price === undefined) throw new ArgumentError(`the price of ${model} is not known`);
  return price;
}

const nothing = { reads: 0, writes: 0, deletes: 0, messages: 0 };

/** What others are charged: no store at all. */
const withoutStore = (counted: Counted): Counted => ({
  turn: nothing,
  compaction: { ...counted.compaction, ...nothing, calls: CLI.calls, readFactor: CLI.readFactor },
});

/** As the service sets it up: every message brings back as much as it may. */
const { COMPRESSOR_MODEL, RECALL_TOKENS } = parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap' });

async function compute(model: string, dialogue: Dialogue): Promise<CostRun> {
  const summariser = compressorModel({ model, fallback: COMPRESSOR_MODEL }, verifiedModels);
  const prices = { chat: priced(model), summariser: priced(summariser) };
  const policy = resolvePolicy({ model });
  const { windowTokens } = policy;
  process.stderr.write(`counting a replay of ${REPLAYED_TURNS} turns …\n`);
  const counted = await countReplay(madeUpDialogue(REPLAYED_TURNS, dialogue), {
    model,
    thresholdTokens: REPLAYED_THRESHOLD_TOKENS,
  });
  const bill = (strategy: Strategy) =>
    billOf(dialogue, strategy, { ...prices, cloud: cloudPrices, windowTokens });
  const folding = (
    thresholdTokens: number,
    tailTokens: number,
    recalledTokens = RECALL_TOKENS,
  ): Strategy => ({ thresholdTokens, tailTokens: () => tailTokens, recalledTokens, counted });
  const total = (thresholdTokens: number, tailTokens: number) =>
    bill(folding(thresholdTokens, tailTokens)).total;
  const grid = gridOf(THRESHOLDS, TAILS, total);
  const best = cheapest(grid);
  const usualTokens = policy.softThresholdTokens ?? Infinity;
  const usual = {
    thresholdTokens: usualTokens,
    tailTokens: policy.tailTokens,
    total: total(usualTokens, policy.tailTokens),
  };
  const others = { recalledTokens: 0, counted: withoutStore(counted) };
  const naive: Strategy = { thresholdTokens: Infinity, tailTokens: () => 0, ...others };
  const geminiCli: Strategy = {
    thresholdTokens: CLI.thresholdFraction * windowTokens,
    tailTokens: (contextTokens) => CLI.keptFraction * contextTokens,
    ...others,
  };
  const bills = [
    { name: 'Naive resending', bill: bill(naive) },
    { name: 'Gemini CLI (0.5, 30 %)', bill: bill(geminiCli) },
    { name: 'Recap, default', bill: bill(folding(usualTokens, policy.tailTokens)) },
    { name: 'Recap, recall off', bill: bill(folding(usualTokens, policy.tailTokens, 0)) },
    { name: 'Recap, cheapest', bill: bill(folding(best.thresholdTokens, best.tailTokens)) },
  ];
  return { model, summariser, prices, dialogue, counted, bills, grid, best, usual };
}

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

function readHitFraction(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new ArgumentError(`--hit-rate takes a number from 0 to 1, not ${JSON.stringify(text)}`);
  return value;
}

process.exitCode = await runCommand(help, async (argv) => {
  const { values } = readCommandLine(argv, options);
  if (values.help) return 'help';
  const size = (flag: 'turns' | 'message-tokens' | 'answer-tokens' | 'overhead-tokens') =>
    readInteger(`--${flag}`, values[flag]);
  const run = await compute(values.model, {
    turns: size('turns') ?? 2_000,
    messageTokens: size('message-tokens') ?? 60,
    answerTokens: size('answer-tokens') ?? 250,
    overheadTokens: size('overhead-tokens') ?? 500,
    hitFraction: readHitFraction(values['hit-rate']),
  });
  process.stdout.write(costPage(run));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(run, null, 2)}\n`);
  if (values.report) await write(run);
  return 0;
});
