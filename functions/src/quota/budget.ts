import { ABORT_REASON } from '../lib/async-iterators.ts';
import { budgetCollection, budgetShardPath } from '#shared/conversation/documents/paths.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import type { Clock, DocumentStore, Randomness } from '#shared/ports/ports.ts';
import { globalBudgetError } from '#shared/quota/quota-error.ts';
import { type SpendRefusal, spendRefusal } from '#shared/quota/reserve-decision.ts';
import { nextDay, sumOfCosts, toDay, usageExpiry } from '#shared/quota/usage.ts';

/** A sum of what the others spend that is as old as this is read again before a call begins, ms. */
const FRESH_MS = 5_000;

/**
 * While its calls are on their way an instance writes what they cost and reads the sum so often, ms: then no call waits
 * for that. With the age of a sum that makes nine seconds until all know what one has begun.
 */
const EVERY_MS = 4_000;

/** A call that is on its way. */
interface CallOnItsWay {
  /** What it may cost, millionths of a dollar. */
  costMicros: number;
  /** Nobody waits for it any longer then; what is not settled by then stays held until the day ends. */
  until: Date;
}

/** What one call holds of the budget. */
export interface BudgetHold {
  /** Puts what the call took in the place of what it held. Never rejects. */
  settle(costMicros: number): Promise<void>;
}

/** What all users together may spend on a day, millionths of a dollar; a limit of 0 is none. */
export interface Budget {
  /** Holds what a call may cost. Throws GLOBAL_BUDGET, StoreUnavailableError. */
  hold(limitMicros: number, call: CallOnItsWay): Promise<BudgetHold>;
  /** Whether nothing is left. Throws StoreUnavailableError. */
  isSpent(limitMicros: number): Promise<boolean>;
}

/** The document of an instance. */
interface Figures {
  /** Settled and held. */
  costMicros: number;
  heldMicros: number;
}

const NO_FIGURES: Figures = { costMicros: 0, heldMicros: 0 };

/** What an instance knows of one day. */
interface Day {
  day: string;
  settledMicros: number;
  /** What the store has of this instance, as far as is known. */
  stored: Figures;
  /** The outcome of the newest write is not known: it is written again. */
  isOpen: boolean;
  isStored: boolean;
  /** What other instances have spent and hold; undefined: not read yet. */
  others: { costMicros: number; readAtMs: number } | undefined;
}

const newDay = (day: string): Day => ({
  day,
  settledMicros: 0,
  stored: NO_FIGURES,
  isOpen: false,
  isStored: false,
  others: undefined,
});

interface State {
  store: Pick<DocumentStore, 'commit' | 'sum'>;
  clock: Clock;
  /** Names this instance. */
  instance: string;
  today: Day;
  /** Calls of this instance that are on their way. */
  calls: Set<CallOnItsWay>;
  /** The newest write. Never rejects. */
  writing: Promise<void>;
  reading: Promise<void> | undefined;
  /** Ends the watch; present while calls are on their way. */
  watch: AbortController | undefined;
}

const isAnyOnItsWay = ({ calls, clock }: Pick<State, 'calls' | 'clock'>): boolean =>
  [...calls].some(({ until }) => until > clock.now());

/**
 * What is known of the day that it is. Calls that are on their way at midnight belong to the new day; those that nobody
 * settled are forgotten with theirs.
 */
function currentDay(state: State): Day {
  const now = state.clock.now();
  if (state.today.day !== toDay(now)) {
    state.today = newDay(toDay(now));
    state.calls = new Set([...state.calls].filter(({ until }) => until > now));
  }
  return state.today;
}

function currentFigures(state: State): Figures {
  const heldMicros = sumOfCosts([...state.calls]);
  return { costMicros: currentDay(state).settledMicros + heldMicros, heldMicros };
}

function isWritten(state: State): boolean {
  const { costMicros, heldMicros } = currentFigures(state);
  const { stored, isOpen } = currentDay(state);
  return !isOpen && costMicros === stored.costMicros && heldMicros === stored.heldMicros;
}

/** No guard is needed: nobody else writes the document of this instance. */
async function writeOwn(state: State): Promise<void> {
  const today = currentDay(state);
  if (isWritten(state)) return;
  const { isStored } = today;
  const figures = currentFigures(state);
  const path = budgetShardPath(today.day, state.instance);
  const fields = { schemaVersion: 1, ...figures, expireTime: usageExpiry(state.clock.now()) };
  try {
    await state.store.commit([
      isStored
        ? { op: 'update', path, fields, guard: { exists: true } }
        : { op: 'create', path, fields },
    ]);
    today.stored = figures;
    today.isStored = true;
    today.isOpen = false;
  } catch (error) {
    // What could not be written goes with the next figures.
    today.isOpen = true;
    if (!(error instanceof GuardLostError) || isStored) return;
    // The reply to an earlier creation was lost.
    today.isStored = true;
    await writeOwn(state);
  }
}

/** One after the other, so that the newest figures stay. */
const write = (state: State): Promise<void> =>
  (state.writing = state.writing.then(() => writeOwn(state)));

async function readOthers(state: State): Promise<void> {
  // Only then it is known how much of the sum is our own.
  await state.writing;
  const today = currentDay(state);
  const { day, stored } = today;
  const readAtMs = state.clock.now().getTime();
  const sumMicros = await state.store.sum(budgetCollection(day), 'costMicros');
  today.others = { costMicros: Math.max(0, sumMicros - stored.costMicros), readAtMs };
}

const read = (state: State): Promise<void> =>
  (state.reading ??= readOthers(state).finally(() => (state.reading = undefined)));

async function readUnlessFresh(state: State): Promise<void> {
  const { others } = currentDay(state);
  const nowMs = state.clock.now().getTime();
  if (!others || Math.abs(nowMs - others.readAtMs) >= FRESH_MS) await read(state);
}

/** Writes and reads until no call is on its way, and all is written. */
async function watch(state: State, { signal }: AbortController): Promise<void> {
  for (;;) {
    await state.clock.wait(EVERY_MS, signal);
    if (signal.aborted) return;
    await write(state);
    if (!isAnyOnItsWay(state)) {
      if (!isWritten(state)) continue;
      state.watch = undefined;
      return;
    }
    // Who needs the sum reads it again.
    await read(state).catch(() => undefined);
  }
}

const spentMicros = ({ today: { others, settledMicros } }: State) =>
  (others?.costMicros ?? 0) + settledMicros;

/** Enters a call, unless it does not fit. */
function enter(state: State, call: CallOnItsWay, limitMicros: number): SpendRefusal | undefined {
  const refusal = spendRefusal({
    limitMicros,
    usedMicros: spentMicros(state),
    heldMicros: sumOfCosts([...state.calls]),
    wantedMicros: call.costMicros,
  });
  if (!refusal) state.calls.add(call);
  return refusal;
}

/** Whether what is missing is only held by calls of other instances. */
async function isHeldByOthers(state: State, limitMicros: number): Promise<boolean> {
  const { day, stored } = state.today;
  const sumMicros = await state.store.sum(budgetCollection(day), 'heldMicros');
  return spentMicros(state) - (sumMicros - stored.heldMicros) < limitMicros;
}

async function refusalError(state: State, refusal: SpendRefusal, limitMicros: number) {
  const isHeld = refusal === 'held' || (await isHeldByOthers(state, limitMicros));
  const now = state.clock.now();
  return globalBudgetError({
    kind: isHeld ? 'held' : 'spent',
    resetTime: nextDay(now),
    now,
    spentMicros: spentMicros(state),
  });
}

async function settle(state: State, call: CallOnItsWay, costMicros: number): Promise<void> {
  currentDay(state).settledMicros += costMicros;
  state.calls.delete(call);
  if (isAnyOnItsWay(state)) return;
  await write(state);
  // Else another call has begun meanwhile, or the store is away: what is not written is written later.
  if (isAnyOnItsWay(state) || !isWritten(state)) return;
  state.watch?.abort(ABORT_REASON);
  state.watch = undefined;
}

async function hold(state: State, limitMicros: number, call: CallOnItsWay): Promise<BudgetHold> {
  await readUnlessFresh(state);
  if (enter(state, call, limitMicros)) {
    await read(state);
    const refusal = enter(state, call, limitMicros);
    if (refusal) throw await refusalError(state, refusal, limitMicros);
  }
  if (!state.watch) {
    state.watch = new AbortController();
    void watch(state, state.watch);
  }
  return { settle: (takenMicros) => settle(state, call, takenMicros) };
}

const noHold: BudgetHold = { settle: () => Promise.resolve() };

/**
 * The budget of the deployment. Each instance has a document of the day that says what its calls have cost and hold; a
 * call begins where the sum leaves room. What an instance holds that dies counts as spent until the day ends.
 */
export function createBudget(
  dependencies: Pick<State, 'store' | 'clock'> & { randomness: Randomness },
): Budget {
  const { store, clock, randomness } = dependencies;
  const state: State = {
    store,
    clock,
    instance: randomness.uuid(),
    today: newDay(''),
    calls: new Set(),
    writing: Promise.resolve(),
    reading: undefined,
    watch: undefined,
  };
  return {
    hold: async (limitMicros, call) =>
      limitMicros === 0 ? noHold : hold(state, limitMicros, { ...call }),
    isSpent: async (limitMicros) => {
      if (limitMicros === 0) return false;
      await readUnlessFresh(state);
      return spentMicros(state) >= limitMicros && !(await isHeldByOthers(state, limitMicros));
    },
  };
}
