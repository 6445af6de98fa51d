import { budgetShardPath, usagePath } from '#shared/conversation/documents/paths.ts';
import {
  decodeUsage,
  toDay,
  totalSpentMicros,
  type Usage,
  type WorkName,
} from '#shared/quota/usage.ts';
import { BUDGET_SHARDS } from '#functions/quota/quota-settings.ts';
import { opsCommand, pageArgs } from '../command.ts';
import { ArgumentError, wholeNumber } from '../arguments.ts';
import { conversationIds } from '../conversation-ids.ts';
import type { Project } from '../project.ts';
import { dollars, figure, toTable, type Screen } from '../screen.ts';
import { addBills, billsOfConversation, type Bill } from '../usage-bills.ts';

const DAY_MS = 24 * 60 * 60_000;
/** As long as figures of a day are kept. */
const DAYS_MAX = 36;
const LIMIT_MAX = 1_000_000;

const lastDays = (now: Date, days: number): string[] =>
  Array.from({ length: days }, (_, i) => toDay(new Date(now.getTime() - i * DAY_MS)));

interface UsageRow {
  day: string;
  work: string;
  runs: number;
  tokens: number;
  costMicros: number;
}

/** A kind of work that is missing here does not pass the type check. */
const workNames = Object.keys({
  compactions: true,
  titles: true,
  routing: true,
  condensing: true,
} satisfies Record<WorkName, true>) as WorkName[];

const rowsOf = (day: string, usage: Usage): UsageRow[] => [
  {
    day,
    work: 'messages',
    runs: usage.messages,
    tokens: usage.tokens,
    costMicros: usage.costMicros,
  },
  ...workNames.map((work) => ({ day, work, ...usage[work] })),
];

const tellRows = (rows: readonly UsageRow[]) =>
  toTable<UsageRow>(
    [
      { title: 'day', text: ({ day }) => day },
      { title: 'work', text: ({ work }) => work },
      { title: 'runs', text: ({ runs }) => figure(runs), isFigure: true },
      { title: 'tokens', text: ({ tokens }) => figure(tokens), isFigure: true },
      { title: 'cost', text: ({ costMicros }) => dollars(costMicros), isFigure: true },
    ],
    rows,
  );

async function usageOfUser(
  { chat }: Project,
  screen: Screen,
  target: { uid: string; days: number },
) {
  const days = lastDays(chat.clock.now(), target.days);
  const documents = await chat.store.get(days.map((day) => usagePath(target.uid, day)));
  const found = days.flatMap((day, index) => {
    const document = documents[index];
    return document ? [{ day, usage: decodeUsage(document) }] : [];
  });
  const rows = found.flatMap(({ day, usage }) =>
    rowsOf(day, usage).filter(({ runs, tokens }) => runs > 0 || tokens > 0),
  );
  const spentMicros = found.reduce((sum, { usage }) => sum + totalSpentMicros(usage), 0);
  screen.json({
    uid: target.uid,
    days: found.map(({ day, usage }) => ({ day, ...usage, spentMicros: totalSpentMicros(usage) })),
    spentMicros,
  });
  screen.print(rows.length === 0 ? 'nothing was counted' : tellRows(rows));
  screen.print(`\n${dollars(spentMicros)} in ${figure(target.days)} days`);
}

async function usageOfAll({ chat }: Project, screen: Screen, days: number) {
  const { store, clock, config } = chat;
  const rows: { day: string; costMicros: number }[] = [];
  for (const day of lastDays(clock.now(), days)) {
    const paths = Array.from({ length: BUDGET_SHARDS }, (_, n) => budgetShardPath(day, n));
    const shards = await store.get(paths);
    const costMicros = shards.reduce(
      (sum, shard) => sum + Number(shard?.fields['costMicros'] ?? 0),
      0,
    );
    if (shards.some((shard) => shard !== undefined)) rows.push({ day, costMicros });
  }
  screen.json({ days: rows, limitUsd: config.GLOBAL_DAILY_USD });
  screen.print(
    rows.length === 0
      ? 'nothing was counted: dollars of all users are counted only where GLOBAL_DAILY_USD limits them; --scan reads the bills themselves'
      : toTable<(typeof rows)[number]>(
          [
            { title: 'day', text: ({ day }) => day },
            {
              title: 'cost of all users',
              text: ({ costMicros }) => dollars(costMicros),
              isFigure: true,
            },
          ],
          rows,
        ),
  );
}

const billsText = (bills: readonly Bill[]) =>
  toTable<Bill>(
    [
      { title: 'work', text: ({ work }) => work },
      { title: 'model', text: ({ model }) => model || '(none)' },
      { title: 'runs', text: ({ runs }) => figure(runs), isFigure: true },
      { title: 'prompt', text: ({ promptTokens }) => figure(promptTokens), isFigure: true },
      { title: 'cached', text: ({ cachedTokens }) => figure(cachedTokens), isFigure: true },
      { title: 'answered', text: ({ outputTokens }) => figure(outputTokens), isFigure: true },
      { title: 'cost', text: ({ costMicros }) => dollars(costMicros), isFigure: true },
    ],
    bills,
  );

async function usageByScan(
  project: Project,
  screen: Screen,
  pages: AsyncIterable<readonly string[]>,
) {
  let bills: Bill[] = [];
  let looked = 0;
  let last: string | undefined;
  for await (const ids of pages)
    for (const id of ids) {
      bills = addBills(bills, await billsOfConversation(project.chat.store, id));
      looked += 1;
      last = id;
      screen.progress(`${figure(looked)} conversations`);
    }
  screen.json({ conversations: looked, last, bills });
  screen.print(bills.length === 0 ? 'no bills' : billsText(bills));
  screen.print(
    `\n${figure(looked)} conversations, as they stand in the store: what was erased is not among them, and titles have no bill here`,
  );
}

async function* oneId(id: string): AsyncGenerator<string[]> {
  yield await Promise.resolve([id]);
}

/** What was used: of a user by day and work, of all users by day, of conversations by work and model. */
export const usageCommand = opsCommand({
  name: 'usage',
  description: 'Shows tokens and dollars: of a user, of all users, by work and model.',
  args: {
    user: { type: 'string', valueHint: 'UID', description: 'by day and work of this user' },
    conversation: { type: 'string', valueHint: 'ID', description: 'by work and model of this one' },
    scan: {
      type: 'boolean',
      default: false,
      description: 'by work and model of all: reads every turn',
    },
    days: {
      type: 'string',
      valueHint: 'N',
      default: '7',
      description: 'today and the days before',
    },
    ...pageArgs('1000'),
  },
  async run({ args, project, screen }) {
    const days = wholeNumber(args.days, { option: '--days', least: 1, most: DAYS_MAX });
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: LIMIT_MAX });
    const asked = [args.user, args.conversation, args.scan || undefined].filter(Boolean);
    if (asked.length > 1)
      throw new ArgumentError('usage takes one of --user, --conversation and --scan');
    if (args.user !== undefined) await usageOfUser(project, screen, { uid: args.user, days });
    else if (args.conversation !== undefined)
      await usageByScan(project, screen, oneId(args.conversation));
    else if (args.scan)
      await usageByScan(project, screen, conversationIds(project, { after: args.after, limit }));
    else await usageOfAll(project, screen, days);
    return 0;
  },
});
