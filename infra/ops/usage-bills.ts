import { z } from 'zod';
import {
  conversationPath,
  historiesCollection,
  turnsCollection,
} from '#shared/conversation/documents/paths.ts';
import { turnUsageSchema } from '#shared/conversation/documents/turn.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import { readPages, type ReadStore } from './pages.ts';

/** Each may have a MiB. */
const PER_PAGE = 25;

/** What one kind of work cost with one model. */
export interface Bill {
  work: 'messages' | 'compactions';
  model: string;
  runs: number;
  promptTokens: number;
  cachedTokens: number;
  outputTokens: number;
  costMicros: number;
}

const billedTurn = z.object({ usage: turnUsageSchema });
const billedHistory = z.object({
  model: z.string(),
  modelCalls: z.number(),
  usage: z.object({ promptTokens: z.number(), outputTokens: z.number() }),
  costMicros: z.number().optional(),
});

const keyOf = ({ work, model }: Pick<Bill, 'work' | 'model'>) => `${work} ${model}`;

/** Two lists of bills as one, by work and model. */
export function addBills(one: readonly Bill[], other: readonly Bill[]): Bill[] {
  const sums = new Map<string, Bill>();
  for (const bill of [...one, ...other]) {
    const before = sums.get(keyOf(bill));
    sums.set(
      keyOf(bill),
      before
        ? {
            ...bill,
            runs: before.runs + bill.runs,
            promptTokens: before.promptTokens + bill.promptTokens,
            cachedTokens: before.cachedTokens + bill.cachedTokens,
            outputTokens: before.outputTokens + bill.outputTokens,
            costMicros: before.costMicros + bill.costMicros,
          }
        : bill,
    );
  }
  return [...sums.values()];
}

/** A turn's bill; the model of its conversation today, for turns do not say theirs. */
function billOfTurn(fields: DocumentFields, model: string): Bill[] {
  const { data } = billedTurn.safeParse(fields);
  if (!data) return [];
  const { promptTokens, cachedTokens, outputTokens, thoughtsTokens, costMicros = 0 } = data.usage;
  const answered = outputTokens + thoughtsTokens;
  return [
    {
      work: 'messages',
      model,
      runs: 1,
      promptTokens,
      cachedTokens,
      outputTokens: answered,
      costMicros,
    },
  ];
}

function billOfHistory(fields: DocumentFields): Bill[] {
  const { data } = billedHistory.safeParse(fields);
  if (!data || data.modelCalls === 0) return [];
  const { model, usage, costMicros = 0 } = data;
  return [{ work: 'compactions', model, runs: 1, cachedTokens: 0, costMicros, ...usage }];
}

/** What the turns and generations of one conversation cost. */
export async function billsOfConversation(
  store: ReadStore,
  conversationId: string,
): Promise<Bill[]> {
  const [conversation] = await store.get([conversationPath(conversationId)]);
  const model = conversation?.fields['model'];
  const ofModel = typeof model === 'string' ? model : '';
  let bills: Bill[] = [];
  const turns = { collection: turnsCollection(conversationId), limit: PER_PAGE };
  for await (const page of readPages(store, turns))
    bills = addBills(
      bills,
      page.flatMap(({ fields }) => billOfTurn(fields, ofModel)),
    );
  const histories = { collection: historiesCollection(conversationId), limit: PER_PAGE };
  for await (const page of readPages(store, histories))
    bills = addBills(
      bills,
      page.flatMap(({ fields }) => billOfHistory(fields)),
    );
  return bills;
}
