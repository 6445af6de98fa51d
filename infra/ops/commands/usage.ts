import { budgetCollection, usagePath } from '#shared/conversation/documents/paths.ts';
import { decodeUsage, toDay, totalSpentMicros } from '#shared/quota/usage.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { opsCommand } from '../command.ts';
import { wholeNumber } from '../arguments.ts';
import { dollars, figure, toTable } from '../screen.ts';

const DAY_MS = 24 * 60 * 60_000;
/** As long as figures of a day are kept. */
const DAYS_MAX = 36;

interface UsageRow {
  day: string;
  /** Of one user alone: of all, dollars are all that is counted. */
  messages?: number;
  tokens?: number;
  /** Of answers, compactions, titles and all else that asked a model. */
  costMicros: number;
}

const lastDays = (now: Date, days: number): string[] =>
  Array.from({ length: days }, (_, i) => toDay(new Date(now.getTime() - i * DAY_MS)));

async function usageOfUser(
  store: DocumentStore,
  uid: string,
  days: readonly string[],
): Promise<UsageRow[]> {
  const documents = await store.get(days.map((day) => usagePath(uid, day)));
  return days.flatMap((day, index) => {
    const document = documents[index];
    if (!document) return [];
    const usage = decodeUsage(document);
    const { messages, tokens } = usage;
    return [{ day, messages, tokens, costMicros: totalSpentMicros(usage) }];
  });
}

async function usageOfAll(store: DocumentStore, days: readonly string[]): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  for (const day of days) {
    const costMicros = await store.sum(budgetCollection(day), 'costMicros');
    if (costMicros > 0) rows.push({ day, costMicros });
  }
  return rows;
}

/** Dollars by day: of all users, where GLOBAL_DAILY_USD has them counted, or of one. */
export const usageCommand = opsCommand({
  name: 'usage',
  description: 'Shows dollars by day: of all users, or of one.',
  args: {
    user: { type: 'string', valueHint: 'UID', description: 'of this user' },
    days: { type: 'string', valueHint: 'N', default: '7', description: 'today and those before' },
  },
  async run({ args: { user, days }, project: { chat }, screen }) {
    const count = wholeNumber(days, { option: '--days', least: 1, most: DAYS_MAX });
    const names = lastDays(chat.clock.now(), count);
    const rows =
      user === undefined
        ? await usageOfAll(chat.store, names)
        : await usageOfUser(chat.store, user, names);
    screen.json({ ...(user !== undefined && { uid: user }), days: rows });
    if (rows.length > 0)
      screen.print(
        toTable<UsageRow>(
          [
            { title: 'day', text: ({ day }) => day },
            { title: 'messages', text: ({ messages }) => figure(messages), isFigure: true },
            { title: 'tokens', text: ({ tokens }) => figure(tokens), isFigure: true },
            { title: 'cost', text: ({ costMicros }) => dollars(costMicros), isFigure: true },
          ],
          rows,
        ),
      );
    else if (user === undefined)
      screen.print('nothing was counted: that is done only where GLOBAL_DAILY_USD is set');
    else screen.print('nothing was counted');
    return 0;
  },
});
