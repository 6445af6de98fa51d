import type { Bill } from './bill.ts';
import { cacheFromTokens, GEMINI_CLI, type Asked, type ShapeCosts } from './compare-costs.ts';
import {
  CLI_SUMMARY_CHARACTERS,
  cliSummariser,
  countedOperations,
  GROWN_ROOM,
  INSTRUCTION_TOKENS,
  PRICED_ON,
} from './prices.ts';

const dollars = (value: number) => value.toFixed(value < 1 ? 3 : 2);
const tokens = (value: number) => Math.round(value).toLocaleString('en-US');
const percent = (share: number) => `${Math.round(100 * share)} %`;
/** How many times the least. */
const times = (bill: Bill, best: Bill) => (bill.total / best.total).toFixed(2);
const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const table = (titles: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(titles), row(titles.map(() => '---')), ...rows.map(row)].join('\n');

const labelFor = ({ name }: { name: string }) => name.replaceAll('-', ' ');

/** In the order of the tables. */
const billTitles = [
  ['naive', 'Naive resending'],
  ['geminiCli', 'Gemini CLI’s policy'],
  ['recap', 'Recap'],
  ['best', 'Recap, best threshold'],
] as const;

const billTable = (shapes: readonly ShapeCosts[]): string =>
  table(
    [
      'Conversation',
      'Strategy',
      'Chat',
      'Compactions',
      'Operations',
      'Total',
      '÷ best',
      'Swaps',
      'Largest prompt',
    ],
    shapes.flatMap((shape) =>
      billTitles.map(([id, title]) => {
        const bill = shape[id];
        return [
          labelFor(shape),
          title,
          dollars(bill.chat),
          dollars(bill.compactions),
          dollars(bill.operations),
          `**${dollars(bill.total)}**`,
          times(bill, shape.best),
          bill.compactionCount.toFixed(1),
          tokens(bill.peakTokens),
        ];
      }),
    ),
  );

/** How many calls a turn has, what it weighs, and when Recap compacts. */
function describeShape(shape: ShapeCosts): string {
  const { turnCount, turns, profile, thresholdTokens, tailTokens, snapshotTokens } = shape;
  const weights = turns.map((sizes) => sizes.reduce((sum, size) => sum + size, 0));
  const calls = mean(turns.map((sizes) => Math.floor(sizes.length / 2)));
  return `- ${labelFor(shape)}: ${tokens(turnCount)} turns of ${tokens(mean(weights))} tokens on average (the largest ${tokens(Math.max(...weights))}) and ${calls.toFixed(1)} calls; profile \`${profile}\`: threshold ${tokens(thresholdTokens)}, tail ${tokens(tailTokens)}, snapshot ${tokens(snapshotTokens)}.`;
}

const hitTable = (shapes: readonly ShapeCosts[]): string =>
  table(
    ['Conversation', 'Hits', ...billTitles.map(([, title]) => title), 'Recap ÷ best'],
    shapes.flatMap((shape) =>
      shape.hits.map((hit) => [
        labelFor(shape),
        percent(hit.hitFraction),
        ...billTitles.map(([id]) => dollars(hit[id].total)),
        times(hit.recap, hit.best),
      ]),
    ),
  );

function thresholdTable(shapes: readonly ShapeCosts[]): string {
  const columns = shapes.flatMap((shape) => shape.hits.map((hit) => ({ shape, hit })));
  const all = columns.flatMap(({ hit }) => hit.thresholds.map((each) => each.thresholdTokens));
  const rows = [...new Set(all)].toSorted((a, b) => a - b);
  return table(
    [
      'Threshold',
      ...columns.map(({ shape, hit }) => `${labelFor(shape)}, ${percent(hit.hitFraction)}`),
    ],
    rows.map((thresholdTokens) => [
      tokens(thresholdTokens),
      ...columns.map(({ shape, hit }) => {
        const found = hit.thresholds.find((each) => each.thresholdTokens === thresholdTokens);
        if (found === undefined) return '–';
        const ratio = times(found.bill, hit.best);
        return thresholdTokens === shape.thresholdTokens ? `**${ratio}**` : ratio;
      }),
    ]),
  );
}

/** What the figures rest on. */
function assumptions({ model }: Asked): string {
  const { turn, compaction } = countedOperations;
  return [
    `- **Hits.** A hit saves what the prompt shares with the one before, from ${tokens(cacheFromTokens(model))} tokens on with \`${model}\`. The first prompt after a swap shares only instruction and tools. What is recalled is paid in full.`,
    `- **Compactions** of Recap are one call each, which reads an instruction of ${tokens(INSTRUCTION_TOKENS)} tokens, the folded turns and the snapshot before, and fills the snapshot’s room, ${GROWN_ROOM} × the budget.`,
    '- **Recall** brings back as much as it may in every turn, once something was folded.',
    `- **Gemini CLI** compacts at ${percent(GEMINI_CLI.thresholdFraction)} of the window, keeps ${percent(GEMINI_CLI.keptFraction)}, reads the rest twice (its check shares the prompt of its summary) and writes ${tokens(cliSummariser.outputTokens)} tokens each time, as recorded with ${tokens(CLI_SUMMARY_CHARACTERS)} characters allowed. Masking of tool outputs is left out for both.`,
    `- **Operations**: ${turn.reads.toFixed(1)} reads and ${turn.writes.toFixed(1)} writes a turn; ${compaction.reads.toFixed(1)} reads, ${compaction.writes.toFixed(1)} writes and ${compaction.messages} messages a compaction, as counted once. Others pay for no store.`,
    '- **Large turns.** The service would shorten the view of a turn that is larger than the threshold, as in coding; that is left out.',
    '- **Not included**: thinking, storage of caches (implicit caching has no price), functions, network, storage. Free quotas are not deducted. Tokens are estimated. Compactions begin after a turn, never in one.',
  ].join('\n');
}

/** The page in Markdown. */
export const costPage = (shapes: readonly ShapeCosts[], asked: Asked): string =>
  `${[
    '# Cost',
    `US dollars for a thousand turns, from \`npm run cost -- --report\`, with \`${asked.model}\`, which also summarizes, and ${tokens(asked.overheadTokens)} tokens of instruction and tools; ${percent(asked.hitFraction)} of the prompts hit the cache. \`npm run cost -- --help\` lists what you can change, such as the model. The best threshold is that of the [table below](#thresholds) which costs the least. Swaps are those of a thousand turns. Sizes of coding and of long answers are those of a recorded conversation, over and over.`,
    billTable(shapes),
    shapes.map(describeShape).join('\n'),
    '## Hit rates',
    hitTable(shapes),
    '## Thresholds',
    'Cost ÷ that of the best, by threshold and share of hits, with the tail and snapshot of the default:',
    thresholdTable(shapes),
    '## What the figures say',
    assumptions(asked),
    `Prices: \`shared/models/model-registry.ts\` for models, \`lab/cost/prices.ts\` for the cloud (us-central1, ${PRICED_ON}).`,
  ].join('\n\n')}\n`;
