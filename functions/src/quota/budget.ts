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
import { BUDGET_CACHE_MS, BUDGET_SHARDS, BUDGET_WRITE_EVERY_MS } from './quota-settings.ts';

/** What cannot be read has cost nothing: one shard of many shall not keep everybody out. */
const shardSchema = z.object({ costMicros: z.number().nonnegative().max(1e15).catch(0) });

const costOf = (document: StoredDocument | undefined): number =>
  document ? shardSchema.parse(document.fields).costMicros : 0;

/** What is to be added to a shard now. */
export interface BudgetPart {
  path: string;
  day: string;
  costMicros: number;
}

/** What all users together have cost on a day, in shards so that instances that write at once do not meet. */
export interface Budget {
  /** Whether there is one: else nothing is written. */
  isLimited: boolean;
  /** Throws GLOBAL_BUDGET where it is spent, as far as this instance knows; StoreUnavailableError. */
  refuseSpent(): Promise<void>;
  /**
   * Counts a cost here, where it is known at once. Returns what is to be written with it; undefined where the budget
   * was written a moment ago: then a later cost carries it. What nobody carries before the process ends is not counted.
   */
  take(day: string, costMicros: number): BudgetPart | undefined;
  /** A part that could not be written: a later cost carries it. */
  giveBack(part: BudgetPart): void;
  /** Adds a part to its shard as it was read. */
  write(part: BudgetPart, document: StoredDocument | undefined): Write;
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
 * can be overspent by what is on its way when it is reached, and by what other instances settle in 12 s.
 */
export function createBudget(
  { store, clock, randomness }: BudgetDependencies,
  limitMicros: number,
): Budget {
  let known: Known | undefined;
  let reading: Promise<Known> | undefined;
  let carried = { day: '', costMicros: 0 };
  let writtenAtMs = -Infinity;
  const carriedOn = (day: string) => (carried.day === day ? carried.costMicros : 0);
  const read = async (now: Date): Promise<Known> => {
    const day = dayOf(now);
    const paths = Array.from({ length: BUDGET_SHARDS }, (_, n) => budgetShardPath(day, n));
    const shards = await store.get(paths);
    const costMicros = shards.reduce((sum, shard) => sum + costOf(shard), carriedOn(day));
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
  const anyShardOf = (day: string) =>
    budgetShardPath(day, Number.parseInt(randomness.uuid().slice(0, 7), 16) % BUDGET_SHARDS);
  return {
    isLimited: limitMicros > 0,
    refuseSpent: async () => {
      if (limitMicros === 0) return;
      const now = clock.now();
      const { costMicros: spentMicros } = await current(now);
      if (spentMicros >= limitMicros)
        throw globalBudgetError({ resetTime: nextDayOf(now), now, spentMicros });
    },
    take: (day, costMicros) => {
      if (known?.day === day) known = { ...known, costMicros: known.costMicros + costMicros };
      const sumMicros = carriedOn(day) + costMicros;
      const nowMs = clock.now().getTime();
      if (Math.abs(nowMs - writtenAtMs) < BUDGET_WRITE_EVERY_MS) {
        carried = { day, costMicros: sumMicros };
        return undefined;
      }
      writtenAtMs = nowMs;
      carried = { day, costMicros: 0 };
      return { path: anyShardOf(day), day, costMicros: sumMicros };
    },
    giveBack: ({ day, costMicros }) => {
      if (carried.day === day) carried = { day, costMicros: carried.costMicros + costMicros };
    },
    write: ({ path, costMicros }, document) => {
      const fields = {
        schemaVersion: 1,
        costMicros: costOf(document) + costMicros,
        expireTime: expiryOf(clock.now()),
      };
      return document
        ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
        : { op: 'create', path, fields };
    },
  };
}
