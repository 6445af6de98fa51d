import { assumed, costAtRest, monthlyCost, sizes, sweepsPerMonth } from './monthly-cost.ts';
import { documentCounts } from './document-counts.ts';

const table = (conversation: string[], rows: string[][]) =>
  [conversation, conversation.map((_, i) => (i === 0 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

/** Two digits that count, without an exponent. */
const usd = (value: number) =>
  value >= 10
    ? Math.round(Number(value.toPrecision(3))).toLocaleString('en-US')
    : String(Number(value.toPrecision(2)));

const parts = {
  firestoreOperations: 'Firestore: operations',
  firestoreStorage: 'Firestore: storage and backups',
  functions: 'functions',
  rest: 'logs, egress, Pub/Sub',
  modelChat: 'model: answers',
  modelCompactions: 'model: compactions',
} as const;

/** What `docs/operations.md` has between its marks. */
export const costTable = (): string => {
  const costs = sizes.map((size) => monthlyCost(size, documentCounts));
  const sum = (cost: (typeof costs)[number]) =>
    Object.values(cost).reduce((total: number, one: number) => total + one, 0);
  const row = (name: string, input: (cost: (typeof costs)[number], i: number) => number) => [
    name,
    ...costs.map((cost, i) => usd(input(cost, i))),
  ];
  return table(
    [
      'US dollars a month',
      ...sizes.map(({ users, atOnce }) => `${users.toLocaleString('en-US')} (${atOnce} at once)`),
    ],
    [
      row(parts.firestoreOperations, (cost) => cost.firestoreOperations),
      row(parts.firestoreStorage, (cost) => cost.firestoreStorage),
      row(parts.functions, (cost) => cost.functions),
      row(parts.rest, (cost) => cost.rest),
      row(parts.modelChat, (cost) => cost.modelChat),
      row(parts.modelCompactions, (cost) => cost.modelCompactions),
      row('**all**', sum),
      row('for one daily user', (cost, i) => sum(cost) / (sizes[i]?.users ?? 1)),
    ],
  );
};

/** What `docs/deploy.md` has between its marks: dev, which has no alerts, and prod with all of them. */
export function restTable(alertConditions: number): string {
  const columns = [costAtRest(0, 0), costAtRest(1, alertConditions)];
  const names: Record<string, string> = {
    minimumInstances: 'minimum instances of chat: 30 days × 86,400 s × (idle vCPU + ½ GiB)',
    alertConditions: `${alertConditions} alert conditions`,
    secretVersions: 'one secret version (six are free in an account)',
    schedule: 'one schedule (three are free in an account)',
    sweeps: `${sweepsPerMonth.toLocaleString('en-US')} sweeps of ${assumed.sweepSeconds} s with nothing to do: an instance, ${documentCounts.sweep.reads} reads, 2 messages`,
    images: 'about 1 GiB of images and archives (half a GiB is free)',
  };
  const rows = Object.entries(names).map(([key, name]) => [
    name,
    ...columns.map((column) => (column[key] ?? 0).toFixed(2)),
  ]);
  const sums = columns.map((column) =>
    Object.values(column)
      .reduce((total, one) => total + one, 0)
      .toFixed(2),
  );
  return table(
    ['US dollars a month', '`min_instances = 0` (dev)', '`= 1` (prod)'],
    [...rows, ['**all**', ...sums]],
  );
}

/** `text` with what stands between the marks replaced. Throws Error where there are no marks. */
export function betweenMarks(text: string, inner: string): string {
  const marks = /(<!-- costs -->\n)[\s\S]*(<!-- end of costs -->)/;
  if (!marks.test(text)) throw new Error('no <!-- costs --> and <!-- end of costs -->');
  return text.replace(marks, (_, begin: string, end: string) => `${begin}\n${inner}\n\n${end}`);
}
