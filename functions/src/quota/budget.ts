import { budgetShardPath } from '#shared/conversation/documents/paths.ts';
import { toDay, nextDay } from '#shared/quota/usage.ts';
import { spendRefusal } from '#shared/quota/spend-decision.ts';
import { globalBudgetError } from '#shared/quota/quota-error.ts';
import type {
  Clock,
  DocumentStore,
  Randomness,
  StoredDocument,
  Write,
} from '#shared/ports/ports.ts';
import { shardPaths, shardWrite, sumOfShards } from './budget-shards.ts';
import { BUDGET_CACHE_MS, BUDGET_SHARDS, BUDGET_WRITE_EVERY_MS } from './quota-settings.ts';

/** What is to be added to a shard now. */
interface BudgetPart {
  path: string;
  day: string;
  costMicros: number;
}

/** What of the day's dollars is one user's, millionths. */
interface OwnSpending {
  /** Settled. */
  usedMicros: number;
  /** Held by answers on their way. */
  heldMicros: number;
  /** What the next call may take. */
  wantedMicros: number;
}

/** What all users together have cost on a day, in shards so that instances that write at once do not meet. */
export interface Budget {
  /** Whether there is one: else nothing is written. */
  isLimited: boolean;
  /**
   * Throws GLOBAL_BUDGET where nothing is left, or too little beside what is on its way; StoreUnavailableError. No
   * user alone can pass it by more than one call, for what is their own is never taken from memory.
   */
  refuseSpent(own: OwnSpending): Promise<void>;
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

interface BudgetDependencies {
  store: Pick<DocumentStore, 'get' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  randomness: Randomness;
}

/** Sums of the shards, millionths of a dollar, and when they were read. */
interface Known {
  day: string;
  usedMicros: number;
  heldMicros: number;
  readAtMs: number;
}

/** Far from the limit a cost may be written a little later, and a sum be old: as many such calls would still fit. */
export const CALLS_OF_HEADROOM = 100;

/** The budget as this instance knows it. */
interface BudgetState {
  dependencies: BudgetDependencies;
  /** 0 = no limit. */
  limitMicros: number;
  known: Known | undefined;
  reading: Promise<Known> | undefined;
  /** Costs that the next write takes along. */
  carried: { day: string; costMicros: number };
  writtenAtMs: number;
}

const carriedOn = ({ carried }: BudgetState, day: string) =>
  carried.day === day ? carried.costMicros : 0;

async function read(state: BudgetState, now: Date): Promise<Known> {
  const day = toDay(now);
  const sum = sumOfShards(await state.dependencies.store.get(shardPaths(day)), now);
  return (state.known = {
    day,
    usedMicros: sum.usedMicros + carriedOn(state, day),
    heldMicros: sum.heldBesideLargestMicros,
    readAtMs: now.getTime(),
  });
}

async function current(state: BudgetState, now: Date): Promise<Known> {
  const { known } = state;
  const isFresh =
    known?.day === toDay(now) && Math.abs(now.getTime() - known.readAtMs) < BUDGET_CACHE_MS;
  if (isFresh) return known;
  state.reading ??= read(state, now).finally(() => (state.reading = undefined));
  return state.reading;
}

async function refuseSpent(state: BudgetState, own: OwnSpending): Promise<void> {
  const { limitMicros } = state;
  if (limitMicros === 0) return;
  const now = state.dependencies.clock.now();
  const before = await current(state, now);
  const ownMicros = own.usedMicros + own.heldMicros + own.wantedMicros;
  if (before.usedMicros + before.heldMicros + ownMicros < limitMicros) return;
  const { usedMicros, heldMicros } = await read(state, now);
  const spending = { limitMicros, usedMicros, heldMicros: heldMicros + own.heldMicros };
  const kind = spendRefusal({ ...spending, wantedMicros: own.wantedMicros });
  if (kind)
    throw globalBudgetError({ kind, resetTime: nextDay(now), now, spentMicros: usedMicros });
}

const anyShardPath = (randomness: Randomness, day: string) =>
  budgetShardPath(day, Number.parseInt(randomness.uuid().slice(0, 7), 16) % BUDGET_SHARDS);

const isFarAfter = ({ known, limitMicros }: BudgetState, day: string, costMicros: number) =>
  known?.day === day && known.usedMicros + CALLS_OF_HEADROOM * costMicros < limitMicros;

function take(state: BudgetState, day: string, costMicros: number): BudgetPart | undefined {
  const { clock, randomness } = state.dependencies;
  const { known } = state;
  if (known?.day === day) state.known = { ...known, usedMicros: known.usedMicros + costMicros };
  const sumMicros = carriedOn(state, day) + costMicros;
  const nowMs = clock.now().getTime();
  const isJustWritten = Math.abs(nowMs - state.writtenAtMs) < BUDGET_WRITE_EVERY_MS;
  if (isJustWritten && isFarAfter(state, day, costMicros)) {
    state.carried = { day, costMicros: sumMicros };
    return undefined;
  }
  state.writtenAtMs = nowMs;
  state.carried = { day, costMicros: 0 };
  return { path: anyShardPath(randomness, day), day, costMicros: sumMicros };
}

/**
 * The budget of the deployment; `limitMicros` 0 = no limit. The sum of the shards is read once in 10 s, and anew
 * wherever that sum and all that a user has of the day might reach the limit. It can be overspent by the answers of
 * others that are on their way then.
 */
export function createBudget(dependencies: BudgetDependencies, limitMicros: number): Budget {
  const state: BudgetState = {
    dependencies,
    limitMicros,
    known: undefined,
    reading: undefined,
    carried: { day: '', costMicros: 0 },
    writtenAtMs: -Infinity,
  };
  return {
    isLimited: limitMicros > 0,
    refuseSpent: (own) => refuseSpent(state, own),
    take: (day, costMicros) => take(state, day, costMicros),
    giveBack: ({ day, costMicros }) => {
      if (state.carried.day === day)
        state.carried = { day, costMicros: state.carried.costMicros + costMicros };
    },
    write: ({ path, costMicros }, document) =>
      shardWrite({ path, document }, { addMicros: costMicros }, dependencies.clock.now()),
  };
}
