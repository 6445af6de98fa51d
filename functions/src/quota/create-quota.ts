import type { Config } from '#functions/config.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { answeringModel, callCostMicros, groundingTools } from '#functions/models/models-in-use.ts';
import { QUEUE_MAX } from '#shared/conversation/start-decision.ts';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type {
  Caller,
  Clock,
  DocumentStore,
  Logger,
  Randomness,
  Sha256,
  Write,
  Quota,
  QuotaRequest,
  QuotaSpending,
  Reservation,
} from '#shared/ports/ports.ts';
import { quotaError } from '#shared/quota/quota-error.ts';
import {
  type QuotaSettings,
  type Wanted,
  decideCreation,
  decideReservation,
  hasLimits,
  spentRefusal,
  withoutHolder,
} from '#shared/quota/reserve-decision.ts';
import {
  type Usage,
  countedDays,
  countedTokens,
  decodeUsage,
  noUsage,
  reservationId,
  takenBy,
  toDay,
  usageAfter,
} from '#shared/quota/usage.ts';
import { type Accounting, usageWrite } from './accounting.ts';
import type { BudgetHold } from './budget.ts';
import { RESERVED_ANSWER_TOKENS, quotaSettings, reservationHoldMs } from './quota-settings.ts';

/** When to come back when as many streams are open as may be, ms. */
const STREAMS_RETRY_MS = 5_000;

/** What the choice of a model is taken to need at most, tokens: five messages of 2,000 characters, and a sentence. */
const ROUTING_TOKENS = { promptTokens: 6_000, outputTokens: 512 };

interface Counting {
  config: Config;
  store: Pick<DocumentStore, 'get'>;
  accounting: Accounting;
  clock: Clock;
  randomness: Randomness;
  logger: Logger;
  sha256: Sha256;
  settings: QuotaSettings;
}

/**
 * The quota that the environment sets, counted in `quotas/{uid}/usage/{day}`. A turn costs one write before it starts
 * and one after its end; where nothing is limited only the second, for answers are counted all the same.
 */
export function createQuota(dependencies: Omit<Counting, 'settings'>): Quota {
  const { config, clock } = dependencies;
  const settings = quotaSettings(config);
  const counting: Counting = { ...dependencies, settings };
  const streams = createOpenStreams(clock, (QUEUE_MAX + 1) * config.TURN_TIMEOUT_MS);
  return {
    reserve: (request) => reserve(counting, request),
    refuse: async (request) => {
      if (hasLimits(settings)) await refuse(counting, request);
    },
    refuseSpent: (caller) => refuseSpent(counting, caller),
    create: (caller, count) => create(counting, caller, count),
    openStream: (caller) => {
      const { streams: limit } = settings.byTier[caller.tier];
      const used = streams.count(caller.uid);
      if (limit > 0 && used >= limit)
        throw quotaError(
          {
            name: 'streams',
            limit,
            used,
            reserved: 0,
            wanted: 1,
            resetTime: new Date(clock.now().getTime() + STREAMS_RETRY_MS),
            retryAfterMs: STREAMS_RETRY_MS,
          },
          caller.tier,
        );
      return streams.open(caller.uid);
    },
  };
}

/** What a call of the model is about to take. */
type Call = Pick<QuotaRequest, 'model' | 'estimatedTokens'>;

/** What a call is estimated at: its whole prompt uncached, and a short answer. */
function estimateOf(config: Config, { model, estimatedTokens }: Call) {
  // How often a model searches it does not say before: one search is held.
  const searches = groundingTools(config, { model }).grounding?.includes('search') ? 1 : 0;
  const call = { model, promptTokens: estimatedTokens, cachedTokens: 0, searches };
  return {
    tokens: estimatedTokens + RESERVED_ANSWER_TOKENS,
    costMicros: callCostMicros(config, { ...call, outputTokens: RESERVED_ANSWER_TOKENS }),
  };
}

/** What the choice of a model costs at most, millionths of a dollar. */
function routingMicros(config: Config, { isRouted }: QuotaRequest): number {
  if (isRouted !== true) return 0;
  const model = answeringModel(config, config.QUICK_MODEL);
  return callCostMicros(config, { model, cachedTokens: 0, ...ROUTING_TOKENS });
}

/** An answer, and the document in which it is reserved. */
interface Reserving {
  request: QuotaRequest;
  wanted: Wanted;
  day: string;
}

/** Enters what is wanted into the figures of the user. Throws quota reasons, GuardLostError, StoreUnavailableError. */
function enter(counting: Counting, { request, wanted, day }: Reserving): Promise<void> {
  const { clock, config, accounting, sha256, settings } = counting;
  const { caller, conversationId, abandoned = [] } = request;
  const holdMs = reservationHoldMs(config);
  const [, before] = countedDays(clock.now(), holdMs);
  const dayBefore = before === day ? undefined : before;
  return accounting.usage.change(caller.uid, {
    days: [day, ...(dayBefore === undefined ? [] : [dayBefore])],
    decide: (usageOf) => {
      const decision = decideReservation({
        usage: usageOf(day) ?? noUsage,
        dayBefore: dayBefore === undefined ? undefined : usageOf(dayBefore),
        limits: settings.byTier[caller.tier],
        wanted,
        abandoned: abandoned.map((messageId) =>
          reservationId(sha256, { conversationId, messageId }),
        ),
        holdMs,
        now: clock.now(),
      });
      if (decision.kind === 'refused') throw quotaError(decision.refusal, caller.tier);
      const usage = { [day]: decision.usage };
      if (dayBefore !== undefined && decision.dayBefore) usage[dayBefore] = decision.dayBefore;
      return { result: undefined, usage };
    },
  });
}

const wantedBy = (
  { config, randomness, sha256 }: Counting,
  request: QuotaRequest,
): Wanted & { estimate: ReturnType<typeof estimateOf> } => {
  const estimate = estimateOf(config, request);
  return {
    id: reservationId(sha256, request),
    conversation: sha256(request.conversationId),
    attempt: request.attempt,
    holder: randomness.uuid(),
    tokens: estimate.tokens,
    costMicros: estimate.costMicros + routingMicros(config, request),
    ...(request.isCounted === true && { isCounted: true }),
    estimate,
  };
};

/** Puts what was taken into the figures. An absent document went with its user, or was none yet where nothing is limited. */
async function settle(
  counting: Counting,
  { request, wanted, day }: Reserving,
  input: { spending: QuotaSpending; taken: ReturnType<typeof takenBy> },
): Promise<void> {
  const { clock, accounting, logger, settings } = counting;
  const { spending, taken } = input;
  const mayCreate = !hasLimits(settings) && spending.isGone !== true;
  try {
    await accounting.usage.change(request.caller.uid, {
      days: [day],
      decide: (usageOf) => {
        const usage = usageOf(day) ?? (mayCreate ? noUsage : undefined);
        if (!usage) return { result: undefined };
        const after = usageAfter(usage, wanted, {
          taken,
          routing: spending.routing,
          now: clock.now(),
        });
        return { result: undefined, usage: { [day]: after } };
      },
    });
  } catch (error) {
    const reason = failureReason(error);
    logger.log('WARNING', 'quota_not_settled', { day, tokens: taken.tokens, reason });
  }
}

/** Gives back what was reserved for a turn that did not begin. What cannot be given back expires. */
async function release(
  { accounting }: Counting,
  { request, wanted, day }: Reserving,
): Promise<void> {
  const change = accounting.usage.change(request.caller.uid, {
    days: [day],
    decide: (usageOf) => {
      const usage = usageOf(day);
      const after = usage && withoutHolder(usage, wanted);
      return { result: undefined, ...(after && after !== usage && { usage: { [day]: after } }) };
    },
  });
  await change.catch(() => undefined);
}

async function reserve(counting: Counting, request: QuotaRequest): Promise<Reservation> {
  const { clock, config, accounting, settings } = counting;
  const { globalCostMicrosPerDay } = settings;
  const isLimited = hasLimits(settings);
  const { estimate: first, ...wanted } = wantedBy(counting, request);
  const reserving: Reserving = { request, wanted, day: toDay(clock.now()) };
  const holds: BudgetHold[] = [];
  /** The first call that holds takes the cost of all. */
  const settleHolds = (costMicros: number) =>
    Promise.all(holds.map((hold, index) => hold.settle(index === 0 ? costMicros : 0)));
  let estimate = first;
  const holdAndEnter = async (next: Reserving, costMicros: number) => {
    const until = new Date(clock.now().getTime() + reservationHoldMs(config));
    holds.push(await accounting.budget.hold(globalCostMicrosPerDay, { costMicros, until }));
    await enter(counting, next);
  };
  if (isLimited)
    try {
      await holdAndEnter(reserving, wanted.costMicros);
    } catch (error) {
      await settleHolds(0);
      throw error;
    }
  return {
    renew: async ({ taken, ...call }) => {
      const next = estimateOf(config, call);
      const takenMicros = taken ? callCostMicros(config, reportedCall(call.model, taken)) : 0;
      const more: Wanted = {
        ...wanted,
        tokens: (taken ? countedTokens(taken) : 0) + next.tokens,
        costMicros: takenMicros + next.costMicros,
        isMore: true,
      };
      if (isLimited) await holdAndEnter({ ...reserving, wanted: more }, next.costMicros);
      estimate = next;
    },
    settle: async (spending) => {
      const taken = takenBy(spending, estimate);
      const costMicros = taken.costMicros + (spending.routing?.costMicros ?? 0);
      await Promise.all([
        settle(counting, reserving, { spending, taken }),
        settleHolds(costMicros),
      ]);
    },
    release: async () => {
      if (isLimited) await Promise.all([release(counting, reserving), settleHolds(0)]);
    },
  };
}

/** The figures of a user's day, where the budget of all users leaves room for so much. Throws GLOBAL_BUDGET. */
async function usageWithinBudget(
  { accounting, settings }: Counting,
  caller: Caller,
  { costMicros, now }: { costMicros: number; now: Date },
): Promise<Usage> {
  const wanted = { costMicros, until: now };
  const hold = await accounting.budget.hold(settings.globalCostMicrosPerDay, wanted);
  await hold.settle(0);
  return accounting.usage.read(caller.uid, toDay(now));
}

/** Throws what a reservation would be refused with, as the figures stand. */
async function refuse(counting: Counting, request: QuotaRequest): Promise<void> {
  const { clock, config, settings } = counting;
  const { caller } = request;
  const now = clock.now();
  const { estimate, ...wanted } = wantedBy(counting, request);
  const { costMicros } = estimate;
  const decision = decideReservation({
    usage: await usageWithinBudget(counting, caller, { costMicros, now }),
    limits: settings.byTier[caller.tier],
    wanted,
    abandoned: [],
    holdMs: reservationHoldMs(config),
    now,
  });
  if (decision.kind === 'refused') throw quotaError(decision.refusal, caller.tier);
}

/** Throws USER_DAILY_USD, GLOBAL_BUDGET where nothing is left for one who asks for work that is no message. */
async function refuseSpent(counting: Counting, caller: Caller): Promise<void> {
  const now = counting.clock.now();
  const usage = await usageWithinBudget(counting, caller, { costMicros: 0, now });
  const limits = counting.settings.byTier[caller.tier];
  const refusal = spentRefusal(usage, { limits, now });
  if (refusal) throw quotaError(refusal, caller.tier);
}

/** Throws USER_DAILY_CREATIONS, ANONYMOUS_LIMIT. */
async function create(
  { store, clock, settings }: Counting,
  caller: Caller,
  count: number,
): Promise<readonly Write[]> {
  const limits = settings.byTier[caller.tier];
  if (limits.creationsPerDay === 0) return [];
  const now = clock.now();
  const path = usagePath(caller.uid, toDay(now));
  const [document] = await store.get([path]);
  const decision = decideCreation(decodeUsage(document), count, { limits, now });
  if (decision.kind === 'refused') throw quotaError(decision.refusal, caller.tier);
  return [usageWrite({ path, document }, decision.usage, now)];
}

/** Streams that this instance holds open, by user: what bounds its memory and its sockets. */
interface OpenStreams {
  /** How many a user has open. */
  count(uid: string): number;
  /** Counts one more until the returned function is called, for `longestMs` at most. */
  open(uid: string): () => void;
}

/** Nothing is kept of a user who has none open. */
export function createOpenStreams(clock: Pick<Clock, 'now'>, longestMs: number): OpenStreams {
  const untilByUser = new Map<string, Set<{ untilMs: number }>>();
  const openOf = (uid: string) => {
    const all = untilByUser.get(uid);
    const nowMs = clock.now().getTime();
    for (const stream of all ?? []) if (stream.untilMs <= nowMs) all?.delete(stream);
    return all;
  };
  return {
    count: (uid) => openOf(uid)?.size ?? 0,
    open: (uid) => {
      const all = openOf(uid) ?? new Set();
      const stream = { untilMs: clock.now().getTime() + longestMs };
      untilByUser.set(uid, all.add(stream));
      return () => {
        all.delete(stream);
        if (all.size === 0 && untilByUser.get(uid) === all) untilByUser.delete(uid);
      };
    },
  };
}
