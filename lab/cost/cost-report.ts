import type { TopLevelSpec } from 'vega-lite';
import type { ModelPrice } from '#shared/models/model-entry.ts';
import { cloudPrices, PRICED_ON } from './cloud-prices.ts';
import type { Bill, Counted, Dialogue, GridPoint, Operations } from './cost-model.ts';

/** All that was computed for one model. */
export interface CostRun {
  model: string;
  summariser: string;
  prices: { chat: ModelPrice; summariser: ModelPrice };
  dialogue: Dialogue;
  counted: Counted & { turns: number; compactions: number };
  bills: { name: string; bill: Bill }[];
  grid: readonly GridPoint[];
  best: GridPoint;
  /** What the service does by itself. */
  usual: GridPoint;
}

const dollars = (value: number) => value.toFixed(value < 1 ? 3 : 2);
const tokens = (value: number) => Math.round(value).toLocaleString('en-US');
const rate = ({ input, cached, output }: ModelPrice) => `${input} | ${cached} | ${output}`;
const row = (...cells: (string | number)[]) => `| ${cells.join(' | ')} |`;

const table = (head: readonly string[], ...rows: string[]) =>
  [row(...head), row(...head.map(() => '---')), ...rows].join('\n');

const billHead = [
  'Strategy',
  'Chat',
  'Of it recall',
  'Compactions',
  'Operations',
  'Total',
  'Compactions, count',
  'Largest prompt',
];

const billRow = ({ name, bill }: CostRun['bills'][number]) =>
  row(
    name,
    dollars(bill.chat),
    dollars(bill.recall),
    dollars(bill.compactions),
    dollars(bill.operations),
    `**${dollars(bill.total)}**`,
    bill.compactionCount,
    tokens(bill.peakTokens),
  );

const gridRow = (run: CostRun) => (thresholdTokens: number) => {
  const tails = [...new Set(run.grid.map(({ tailTokens }) => tailTokens))];
  const cells = tails.map((tail) => {
    const point = run.grid.find(
      (each) => each.thresholdTokens === thresholdTokens && each.tailTokens === tail,
    );
    return point ? dollars(point.total) : '–';
  });
  return row(tokens(thresholdTokens), ...cells);
};

const per = (value: number) => value.toFixed(1);

const operationsRow = (name: string, { reads, writes, deletes, messages }: Operations) =>
  row(name, per(reads), per(writes), per(deletes), per(messages));

const { perRead, perWrite, perDelete, perMessage } = cloudPrices;
const millionPrices = [perRead, perWrite, perDelete, perMessage].map((each) =>
  (each * 1_000_000).toPrecision(2),
);

/** The page in Markdown; its picture is `cost.svg` beside it. */
export function costPage(run: CostRun): string {
  const { dialogue, counted, best, usual } = run;
  const { turn, compaction } = counted;
  const tails = [...new Set(run.grid.map(({ tailTokens }) => tailTokens))];
  const thresholds = [...new Set(run.grid.map(({ thresholdTokens }) => thresholdTokens))];
  return `${[
    '# Cost',
    `Written by \`npm run cost -- --report\`. US dollars for a thousand turns of a conversation of ${tokens(dialogue.turns)} turns with \`${run.model}\`, summarised by \`${run.summariser}\`: ${tokens(dialogue.messageTokens)} tokens a message, ${tokens(dialogue.answerTokens)} an answer, ${tokens(dialogue.overheadTokens)} of instruction and tools; ${Math.round(dialogue.hitFraction * 100)} % of the prompts find the one before in the cache. The conversation is computed turn by turn; what a turn and a compaction ask of the model, Firestore and Pub/Sub was counted in a replay.`,
    '![Dollars for a thousand turns by threshold and tail](cost.svg)',
    table(billHead, ...run.bills.map(billRow)),
    `The cheapest is a threshold of ${tokens(best.thresholdTokens)} with a tail of ${tokens(best.tailTokens)}: ${dollars(best.total)}. The service takes ${tokens(usual.thresholdTokens)} and ${tokens(usual.tailTokens)}: ${dollars(usual.total)}, ${(usual.total / best.total).toFixed(2)} × the cheapest. What a higher threshold buys is [fidelity](fidelity.md).`,
    '## By threshold and tail',
    table(
      ['Threshold', ...tails.map((tail) => `tail ${tokens(tail)}`)],
      ...thresholds.map(gridRow(run)),
    ),
    '## Counted',
    `A replay of ${counted.turns} turns with ${counted.compactions} compactions, on both functions with a store and a bus in memory and the stand-in as the model.`,
    table(
      ['', 'Reads', 'Writes', 'Deletes', 'Messages'],
      operationsRow('a turn', turn),
      operationsRow('a compaction', compaction),
    ),
    `A compaction makes ${per(compaction.calls)} calls, which read ${compaction.readFactor.toFixed(2)} × the context and write ${tokens(compaction.outputTokens)} tokens; its snapshot takes ${tokens(compaction.snapshotTokens)}, at whatever threshold. A real model writes other sentences, and may think: the stand-in does not. A publish and a push are a message each.`,
    '## Prices',
    table(
      ['US dollars', 'Input', 'Cached', 'Output'],
      row(`a million tokens, ${run.model}`, rate(run.prices.chat)),
      row(`a million tokens, ${run.summariser}`, rate(run.prices.summariser)),
    ),
    table(['US dollars', 'Read', 'Write', 'Delete', 'Message'], row('a million', ...millionPrices)),
    `Models: \`shared/models/registry.ts\`, which says where they are from and when they were read. Cloud: Firestore (standard, us-central1) and Pub/Sub beyond their free quotas, ${PRICED_ON}, \`lab/cost/cloud-prices.ts\`. Functions, network and storage are not in it: they do not differ between the strategies by more than the operations do.`,
    '## Assumed',
    'Naive resending is charged nothing for a store, and drops what exceeds the window. Gemini CLI is charged nothing for a store either: at half of the window it asks twice over the whole history, keeps the newest 30 %, and is given our snapshot’s size. Prompts below 4,096 tokens are not cached; after a compaction only instruction and tools are. Once something is folded, every message brings back as much as recall may, which no cache holds.',
  ].join('\n\n')}\n`;
}

type Layer = Extract<TopLevelSpec, { layer: unknown }>['layer'][number];

const gridLayer = ({ grid }: CostRun): Layer => ({
  data: {
    values: grid.map((point) => ({ ...point, tail: `tail ${tokens(point.tailTokens)}` })),
  },
  mark: { type: 'line', point: true },
  encoding: {
    x: {
      field: 'thresholdTokens',
      type: 'quantitative',
      scale: { type: 'log' },
      title: 'threshold, tokens',
      axis: { format: 's' },
    },
    y: { field: 'total', type: 'quantitative', scale: { type: 'log' }, title: 'US$' },
    color: { field: 'tail', type: 'nominal', sort: null, title: null },
  },
});

/** Those who do not compact by a threshold. */
const othersLayer = ({ bills }: CostRun): Layer => ({
  data: {
    values: bills
      .filter(({ name }) => !name.startsWith('Recap'))
      .map(({ name, bill }, index) => ({
        name,
        total: bill.total,
        labelAt: index === 0 ? 4_000 : 32_000,
      })),
  },
  encoding: { y: { field: 'total', type: 'quantitative' } },
  layer: [
    { mark: { type: 'rule', strokeDash: [4, 3] } },
    {
      mark: { type: 'text', align: 'left', dy: -6 },
      encoding: {
        x: { field: 'labelAt', type: 'quantitative' },
        text: { field: 'name', type: 'nominal' },
      },
    },
  ],
});

const usualLayer = ({ usual }: CostRun): Layer => ({
  data: { values: [{ ...usual, name: 'default' }] },
  encoding: {
    x: { field: 'thresholdTokens', type: 'quantitative' },
    y: { field: 'total', type: 'quantitative' },
  },
  layer: [
    { mark: { type: 'point', size: 160, color: 'black' } },
    { mark: { type: 'text', dy: -14 }, encoding: { text: { field: 'name', type: 'nominal' } } },
  ],
});

/** Dollars by threshold, a line for each tail, and lines for those who do not compact so. */
export const costChart = (run: CostRun): TopLevelSpec => ({
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  title: `US$ for 1,000 turns, ${run.model}`,
  background: 'white',
  width: 520,
  height: 300,
  layer: [gridLayer(run), othersLayer(run), usualLayer(run)],
});
