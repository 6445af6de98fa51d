import type { TopLevelSpec } from 'vega-lite';
import type { ModelPrice } from '#shared/models/model-entry.ts';
import { PRICED_ON } from './cloud-prices.ts';
import type { Bill, Counted, Dialogue, GridPoint } from './cost-model.ts';

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
const row = (...cells: (string | number)[]) => `| ${cells.join(' | ')} |`;

/** The thresholds and tails of the page; `--json` has all. */
const SHOWN_THRESHOLDS = [6_000, 12_000, 24_000, 48_000, 96_000, 256_000];
const SHOWN_TAILS = [1_000, 4_000];

const table = (columns: readonly string[], rows: readonly string[]) =>
  [row(...columns), row(...columns.map(() => '---')), ...rows].join('\n');

const billRow = ({ name, bill }: CostRun['bills'][number]) =>
  row(
    name,
    dollars(bill.chat),
    dollars(bill.compactions),
    dollars(bill.operations),
    `**${dollars(bill.total)}**`,
    tokens(bill.peakTokens),
  );

const gridRow = (grid: CostRun['grid']) => (thresholdTokens: number) => {
  const cells = SHOWN_TAILS.map((tailTokens) => {
    const point = grid.find(
      (each) => each.thresholdTokens === thresholdTokens && each.tailTokens === tailTokens,
    );
    return point ? dollars(point.total) : '–';
  });
  return row(tokens(thresholdTokens), ...cells);
};

const describeDialogue = ({ dialogue, model, summariser }: CostRun): string =>
  `US dollars for a thousand turns, from \`npm run cost -- --report\`. The conversation has ${tokens(dialogue.turns)} turns with \`${model}\`, summarised by \`${summariser}\`: ${tokens(dialogue.messageTokens)} tokens a message, ${tokens(dialogue.answerTokens)} an answer, ${tokens(dialogue.overheadTokens)} of instruction and tools. ${Math.round(dialogue.hitFraction * 100)} % of the prompts hit the cache. \`npm run cost -- --help\` lists what you can change.`;

const describeChoice = ({ usual, best }: CostRun): string =>
  `The default (threshold ${tokens(usual.thresholdTokens)}, tail ${tokens(usual.tailTokens)}) costs ${(usual.total / best.total).toFixed(2)} × the cheapest (${tokens(best.thresholdTokens)} and ${tokens(best.tailTokens)}). It buys [fidelity](fidelity.md).`;

const describeReplay = ({ turn, compaction }: CostRun['counted']): string =>
  `A replay with the fake Gemini counted ${turn.reads.toFixed(1)} reads and ${turn.writes.toFixed(1)} writes a turn; ${compaction.reads.toFixed(1)} reads, ${compaction.writes.toFixed(1)} writes and ${Math.round(compaction.messages)} messages a compaction. A real model writes other text, and may think.`;

/** The page in Markdown; its picture is `cost.svg` beside it. */
export function costPage(run: CostRun): string {
  return `${[
    '# Cost',
    describeDialogue(run),
    '![Dollars for a thousand turns by threshold and tail](cost.svg)',
    table(
      ['Strategy', 'Chat', 'Compactions', 'Operations', 'Total', 'Largest prompt'],
      run.bills.map(billRow),
    ),
    describeChoice(run),
    table(
      ['Threshold', ...SHOWN_TAILS.map((tail) => `tail ${tokens(tail)}`)],
      SHOWN_THRESHOLDS.map(gridRow(run.grid)),
    ),
    describeReplay(run.counted),
    'Not included: functions, network and storage. Free quotas are not deducted. The other two strategies pay nothing for a store; Gemini CLI compacts at half of its window and keeps 30 %.',
    `Prices: \`shared/models/registry.ts\` for models, \`lab/cost/cloud-prices.ts\` for the cloud (us-central1, ${PRICED_ON}).`,
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
