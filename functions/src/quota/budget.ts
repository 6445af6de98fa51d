import { z } from 'zod';
import { budgetShardPath } from '../../../shared/conversation/paths.ts';
import { dayOf, expiryOf, nextDayOf } from '../../../shared/quota/day.ts';
import { globalBudgetError } from '../../../shared/quota/quota-error.ts';
import type {
  Clock,
  DocumentStore,
  Randomness,
  StoredDocument,
  Write,
} from '../../../shared/ports.ts';
import { BUDGET_CACHE_MS, BUDGET_SHARDS } from './quota-settings.ts';

const shardSchema = z.object({ costMicros: z.number().nonnegative() });

const costOf = (document: StoredDocument | undefined): number =>
  document ? shardSchema.parse(document.fields).costMicros : 0;

/** What all users together have cost on a day, in shards so that answers that end at once do not meet. */
export interface Budget {
  /** Whether there is one: else nothing is written. */
  isLimited: boolean;
  /** Throws GLOBAL_BUDGET where it is spent, as far as this instance knows; StoreUnavailableError. */
  refuseSpent(): Promise<void>;
  /** The shard that a cost of this day goes to; another one each time. */
  shardOf(day: string): string;
  /** Adds to a shard as it was read. */
  write(shard: { path: string; document: StoredDocument | undefined; costMicros: number }): Write;
  /** What was added here: known at once, not after the next read. */
  added(day: string, costMicros: number): void;
}

export interface BudgetDependencies {
  store: Pick<DocumentStore, 'get' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  randomness: Randomness;
}

/** A sum of the shards, and when it was read. */
interface Known {
  day: string;
  costMicros: number;
  readAtMs: number;
}

/**
 * The budget of the deployment; `limitMicros` 0 = no limit. The sum of the shards is read once in 10 s, so it
 * can be overspent by what is on its way when it is reached, and by what other instances settle in 10 s.
 */
export function createBudget(
  { store, clock, randomness }: BudgetDependencies,
  limitMicros: number,
): Budget {
  let known: Known | undefined;
  let reading: Promise<Known> | undefined;
  const read = async (now: Date): Promise<Known> => {
    const day = dayOf(now);
    const paths = Array.from({ length: BUDGET_SHARDS }, (_, n) => budgetShardPath(day, n));
    const shards = await store.get(paths);
    const costMicros = shards.reduce((sum, shard) => sum + costOf(shard), 0);
    return { day, costMicros, readAtMs: now.getTime() };
  };
  const current = async (now: Date): Promise<Known> => {
    const isFresh =
      known?.day === dayOf(now) && Math.abs(now.getTime() - known.readAtMs) < BUDGET_CACHE_MS;
    if (known && isFresh) return known;
    reading ??= read(now).finally(() => (reading = undefined));
    known = await reading;
    return known;
  };
  const isLimited = limitMicros > 0;
  return {
    isLimited,
    refuseSpent: async () => {
      if (!isLimited) return;
      const now = clock.now();
      const { costMicros: spentMicros } = await current(now);
      if (spentMicros >= limitMicros)
        throw globalBudgetError({ resetTime: nextDayOf(now), now, spentMicros });
    },
    shardOf: (day) =>
      budgetShardPath(day, Number.parseInt(randomness.uuid().slice(0, 7), 16) % BUDGET_SHARDS),
    write: ({ path, document, costMicros }) => {
      const fields = {
        schemaVersion: 1,
        costMicros: costOf(document) + costMicros,
        expireTime: expiryOf(clock.now()),
      };
      return document
        ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
        : { op: 'create', path, fields };
    },
    added: (day, costMicros) => {
      if (known?.day === day) known = { ...known, costMicros: known.costMicros + costMicros };
    },
  };
}
