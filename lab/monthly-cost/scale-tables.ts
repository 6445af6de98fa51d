import { documentCounts } from './document-counts.ts';
import { assumed, sizes } from './monthly-cost.ts';
import { assumedPeak, deployed, limits, scaleOf, type Scale } from './scale.ts';

/** Daily users, and how many answers an instance writes at once on average. */
export type Size = (typeof sizes)[number] | { users: number; atOnce: number };

/** The sizes that the page shows. */
export const scaleSizes: readonly Size[] = [
  { users: 10_000, atOnce: 5 },
  ...sizes.filter(({ users }) => users >= 100_000),
];

/** Two digits that count below a hundred, three above. */
function figure(value: number): string {
  const rounded = Number(value.toPrecision(value < 100 ? 2 : 3));
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

const ofLimit = (value: number, limit: number) =>
  `${figure(value)} (${figure((value / limit) * 100)} %)`;

const instances = (needed: number, { maxInstances }: { maxInstances: number }) =>
  needed > maxInstances ? `**${figure(needed)}**` : figure(needed);

type Row = [name: string, cell: (scale: Scale, size: Size) => string];

const rows: Row[] = [
  ['turns a second', ({ turns }) => figure(turns)],
  ['documents read a second', ({ reads }) => figure(reads)],
  ['documents written a second', ({ writes }) => figure(writes)],
  ['hours from a new database to that', ({ rampHours }) => figure(rampHours)],
  [
    `conversation writes a second, of the ${limits.sequentialWrites} that one index takes`,
    ({ sequentialWrites }) => ofLimit(sequentialWrites, limits.sequentialWrites),
  ],
  [
    'the same in each shard of the index',
    ({ sequentialWritesOfShard }) => ofLimit(sequentialWritesOfShard, limits.sequentialWrites),
  ],
  [
    'writes a second of a shard of the budget',
    ({ budgetWritesOfShard }) => figure(budgetWritesOfShard),
  ],
  ['reads a second of a document in `config`', ({ configReads }) => figure(configReads)],
  ['answers at once', ({ answersAtOnce }) => figure(answersAtOnce)],
  [
    `instances of chat (default: at most ${deployed.chat.maxInstances})`,
    ({ chatInstances }) => instances(chatInstances, deployed.chat),
  ],
  ['compactions a second', ({ compactions }) => figure(compactions)],
  ['messages of Pub/Sub a second', ({ messages }) => figure(messages)],
  ['compactions at once', ({ compactionsAtOnce }) => figure(compactionsAtOnce)],
  [
    `instances of the worker (default: at most ${deployed.compaction.maxInstances})`,
    ({ workerInstances }) => instances(workerInstances, deployed.compaction),
  ],
  ['million tokens a minute, answers', ({ chatTokens }) => figure(chatTokens)],
  ['million tokens a minute, compactions', ({ compactionTokens }) => figure(compactionTokens)],
  ['US dollars a month, model', ({ cost }) => figure(cost.modelChat + cost.modelCompactions)],
  [
    'US dollars a month, all else',
    ({ cost }) =>
      figure(cost.firestoreOperations + cost.firestoreStorage + cost.functions + cost.rest),
  ],
];

/** A table of what each size asks for at its peak. */
export function scaleTable(columns: readonly Size[]): string {
  const scales = columns.map((size) => ({ size, scale: scaleOf(size, documentCounts) }));
  const conversation = [
    'Daily users',
    ...columns.map(({ users }) => users.toLocaleString('en-US')),
  ];
  return [
    conversation,
    conversation.map((_, i) => (i === 0 ? '---' : '--:')),
    ...rows.map(([name, cell]) => [name, ...scales.map(({ scale, size }) => cell(scale, size))]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** What `docs/guides/scale.md` has between its marks. */
export const scalePart = (): string =>
  [
    scaleTable(scaleSizes),
    `Assumed: ${assumed.turnsPerUserDay} messages a user and day, ${assumedPeak.peakFactor} times as many in the busiest minutes, an answer of ${assumed.answerSeconds} s, a compaction of ${assumed.compactionSeconds} s every ${assumed.turnsPerCompaction} turns, an instance ${assumedPeak.filledShare * 100} % full when the next one starts, and [what costs assume](../../lab/monthly-cost/monthly-cost.ts). Counted: documents and messages of a turn and of a compaction.`,
  ].join('\n\n');
