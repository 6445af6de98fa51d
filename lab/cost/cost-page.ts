import { PRICED_ON } from './cloud-prices.ts';
import { assumptions } from './cost-assumptions.ts';
import { dollars, labelFor, mean, percent, times, tokens, turnWeights } from './cost-figures.ts';
import type { CostRun, ShapeRun, Totals } from './cost-run.ts';
import { GEMINI_CLI } from './strategies.ts';

const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
const table = (titles: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [row(titles), row(titles.map(() => '---')), ...rows.map(row)].join('\n');

const titleFor = (shape: ShapeRun) =>
  `${labelFor(shape).slice(0, 1).toUpperCase()}${labelFor(shape).slice(1)}`;

/** Above it a default is too dear for what it keeps. */
const TOLERATED = 1.3;

/** By what they are bills of, in the order of the tables. */
export const billTitles: Readonly<Record<keyof ShapeRun['bills'], string>> = {
  naive: 'Naive resending',
  geminiCli: `Gemini CLI (${GEMINI_CLI.thresholdFraction}, ${percent(GEMINI_CLI.keptFraction)})`,
  recap: 'Recap, default',
  recapCheapest: 'Recap, cheapest',
  optimum: 'Optimum',
};

const billIds = Object.keys(billTitles) as (keyof typeof billTitles)[];

const billTable = (shape: ShapeRun): string =>
  table(
    [
      'Strategy',
      'Chat',
      'Compactions',
      'Operations',
      'Total',
      '÷ optimum',
      'Swaps',
      'Largest prompt',
    ],
    billIds.map((id) => {
      const bill = shape.bills[id];
      return [
        billTitles[id],
        dollars(bill.chat),
        dollars(bill.compactions),
        dollars(bill.operations),
        `**${dollars(bill.total)}**`,
        times(bill.total, shape.bills.optimum.total),
        bill.compactionCount.toFixed(1),
        tokens(bill.peakTokens),
      ];
    }),
  );

/** How many calls a turn has, and what it weighs. */
function describeShape({ turnCount, turns, profile, name }: ShapeRun, run: CostRun): string {
  const rest = `${tokens(run.overheadTokens)} of instruction and tools`;
  if (name === 'chat')
    return `${tokens(turnCount)} turns of ${tokens(run.messageTokens)} tokens a message and ${tokens(run.answerTokens)} an answer; ${rest}.`;
  const calls = mean(turns, (sizes) => Math.floor(sizes.length / 2));
  const weights = turnWeights(turns);
  const weight = mean(weights, Number);
  const largest = Math.max(...weights);
  return `${tokens(turnCount)} turns with the sizes of a recorded conversation, over and over: on average ${tokens(weight)} tokens (the largest ${tokens(largest)}) and ${calls.toFixed(1)} calls a turn; ${rest}. Profile \`${profile}\`.`;
}

const describeChoice = (shape: ShapeRun): string =>
  `Default: threshold ${tokens(shape.usual.thresholdTokens)}, tail ${tokens(shape.usual.tailTokens)}, snapshot ${tokens(shape.snapshotTokens)}. Cheapest: ${tokens(shape.best.thresholdTokens)} and ${tokens(shape.best.tailTokens)}.`;

const shapeSection = (run: CostRun) => (shape: ShapeRun) =>
  [
    `## ${titleFor(shape)}`,
    describeShape(shape, run),
    billTable(shape),
    describeChoice(shape),
  ].join('\n\n');

const lineCells = ({ naive, geminiCli, usual, optimum }: Totals) => [
  dollars(naive),
  dollars(geminiCli),
  `**${dollars(usual)}**`,
  dollars(optimum),
  times(usual, optimum),
];
const lineTitles = ['Naive', 'Gemini CLI', 'Recap', 'Optimum', 'Recap ÷ optimum'];

const hitTable = ({ shapes }: CostRun): string =>
  table(
    ['Conversation', 'Hits', ...lineTitles],
    shapes.flatMap((shape) =>
      shape.hits.map((line) => [labelFor(shape), percent(line.hitFraction), ...lineCells(line)]),
    ),
  );

const modelTable = ({ shapes }: CostRun): string =>
  table(
    ['Model', ...shapes.map(labelFor)],
    (shapes[0]?.models ?? []).map(({ model }) => [
      `\`${model}\``,
      ...shapes.map(({ models }) => {
        const line = models.find((each) => each.model === model);
        return line === undefined
          ? '–'
          : `${dollars(line.usual)} (${times(line.usual, line.optimum)})`;
      }),
    ]),
  );

/** Thresholds that a default may have; `--json` has all. */
const SHOWN_THRESHOLDS = [12_000, 16_000, 20_000, 24_000, 32_000, 48_000, 64_000];

function thresholdTable({ shapes }: CostRun): string {
  const columns = shapes.flatMap((shape) =>
    shape.hits.map((hit) => ({
      title: `${labelFor(shape)}, ${percent(hit.hitFraction)}`,
      shape,
      hit,
    })),
  );
  return table(
    ['Threshold', ...columns.map(({ title }) => title)],
    SHOWN_THRESHOLDS.map((thresholdTokens) => [
      tokens(thresholdTokens),
      ...columns.map(({ shape, hit }) => {
        const point = hit.points.find((each) => each.thresholdTokens === thresholdTokens);
        if (point === undefined) return '–';
        const ratio = times(point.total, hit.optimum);
        return thresholdTokens === shape.usual.thresholdTokens ? `**${ratio}**` : ratio;
      }),
    ]),
  );
}

/** Says plainly where the default is dearer than it should be, or than another threshold would be everywhere. */
export function judgeDefault({ name, usual, hits }: ShapeRun): string {
  const dear = hits.filter((hit) => hit.usual > TOLERATED * hit.optimum);
  const ratios = hits.map((hit) => times(hit.usual, hit.optimum)).join(', ');
  const verdict =
    dear.length === 0
      ? `within ${TOLERATED} × the optimum`
      : `**above ${TOLERATED} × the optimum with ${dear.map(({ hitFraction }) => percent(hitFraction)).join(' and ')} hits**`;
  const [first] = hits;
  const better = (first?.points ?? [])
    .map(({ thresholdTokens }) => {
      const totals = hits.map(
        (hit) =>
          hit.points.find((each) => each.thresholdTokens === thresholdTokens)?.total ?? Infinity,
      );
      const shares = totals.map((total, index) => total / (hits[index]?.usual ?? 0));
      return { thresholdTokens, shares, worst: Math.max(...shares) };
    })
    .filter(({ worst }) => worst < 0.995)
    .toSorted((a, b) => mean(a.shares, Number) - mean(b.shares, Number))
    .at(0);
  const other =
    better === undefined
      ? 'No other threshold of the table is cheaper at every hit rate.'
      : `A threshold of ${tokens(better.thresholdTokens)} with the same tail would cost ${better.shares.map((share) => percent(share)).join(', ')} of it.`;
  return `- ${labelFor({ name })} (${tokens(usual.thresholdTokens)}): ${ratios} × the optimum with ${hits.map(({ hitFraction }) => percent(hitFraction)).join(', ')} hits, ${verdict}. ${other}`;
}

/** The page in Markdown; its picture is `cost.svg` beside it. */
export function costPage(run: CostRun): string {
  return `${[
    '# Cost',
    `US dollars for a thousand turns, from \`npm run cost -- --report\`, with \`${run.model}\`, which also summarises; ${percent(run.hitFraction)} of the prompts hit the cache. \`npm run cost -- --help\` lists what you can change. The [optimum](#what-the-figures-say) is the least that the same summaries, tail and recall can cost. Swaps are those of a thousand turns.`,
    '![Dollars for a thousand turns by threshold and tail](cost.svg)',
    ...run.shapes.map(shapeSection(run)),
    '## Hit rates',
    hitTable(run),
    '## Is the default a good one?',
    run.shapes.map(judgeDefault).join('\n'),
    'Cost ÷ optimum by threshold and share of hits, with the tail and snapshot of the default:',
    thresholdTable(run),
    '## Models',
    `Recap with the prices of the registry, ${percent(run.hitFraction)} hits (÷ optimum); each model summarises its own conversations.`,
    modelTable(run),
    '## What the figures say',
    assumptions(run),
    `Prices: \`shared/models/registry.ts\` for models, \`lab/cost/cloud-prices.ts\` for the cloud (us-central1, ${PRICED_ON}).`,
  ].join('\n\n')}\n`;
}
