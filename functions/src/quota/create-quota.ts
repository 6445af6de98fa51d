import { reportedCall } from '#shared/models/find-price.ts';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import type {
  Caller,
  Clock,
  DocumentStore,
  Logger,
  Randomness,
  Sha256,
  Write,
} from '#shared/ports/ports.ts';
import { decideCreation } from '#shared/quota/creation-decision.ts';
import type { Quota, QuotaRequest, Reservation } from '#shared/ports/quota-ports.ts';
import {
  countedDays,
  decodeUsage,
  openAt,
  reservationId,
  sumOfCosts,
  toDay,
  totalSpentMicros,
} from '#shared/quota/usage.ts';
import type { QuotaLimits } from '#shared/quota/limits.ts';
import { quotaError } from '#shared/quota/quota-error.ts';
import { countedTokens } from '#shared/quota/settle.ts';
import { decideReservation, spentRefusal, type Wanted } from '#shared/quota/reserve-decision.ts';
import { QUEUE_MAX } from '#shared/conversation/decisions/queue-decision.ts';
import type { Config } from '../config.ts';
import { callCostMicros, groundingTools } from '../models/models-in-use.ts';
import { createBudget } from './budget.ts';
import { createOneAtATime } from '../lib/promises.ts';
import { createOpenStreams } from './open-streams.ts';
import { quotaSettings, RESERVED_ANSWER_TOKENS, reservationHoldMs } from './quota-settings.ts';
import { settleTurn, type SettleDependencies } from './settle-turn.ts';
import { usageWrite } from './commit-usage.ts';

export interface QuotaDependencies {
  config: Config;
  store: DocumentStore;
  clock: Clock;
  randomness: Randomness;
  logger: Logger;
  sha256: Sha256;
}

type Counting = QuotaDependencies & SettleDependencies;

/** When to come back when as many streams are open as may be, ms. */
const STREAMS_RETRY_MS = 5_000;

/** What an answer holds until it is settled, and its next call alone. */
function wantedBy({ config, sha256 }: Counting, request: QuotaRequest) {
  const { attempt, model, estimatedTokens, taken, isCounted } = request;
  // How often a model searches it does not say before: one search is held.
  const searches = groundingTools(config, { model }).grounding?.includes('search') ? 1 : 0;
  const call = { model, promptTokens: estimatedTokens, cachedTokens: 0, searches };
  const estimate = {
    tokens: estimatedTokens + RESERVED_ANSWER_TOKENS,
    costMicros: callCostMicros(config, { ...call, outputTokens: RESERVED_ANSWER_TOKENS }),
  };
  const usage = taken === 'nothing' ? undefined : taken;
  const before = usage && {
    tokens: countedTokens(usage),
    costMicros: callCostMicros(config, reportedCall(model, usage)),
  };
  const wanted: Wanted = {
    id: reservationId(sha256, request),
    attempt,
    tokens: (before?.tokens ?? 0) + estimate.tokens,
    costMicros: (before?.costMicros ?? 0) + estimate.costMicros,
    ...(taken !== undefined && { isMore: true }),
    ...(isCounted === true && { isCounted }),
  };
  return { wanted, estimate };
}

async function reserve(
  counting: Counting,
  { request, limits }: { request: QuotaRequest; limits: QuotaLimits },
): Promise<Reservation> {
  const { store, clock, config, budget, sha256 } = counting;
  const { caller, conversationId, abandoned = [] } = request;
  const holdMs = reservationHoldMs(config);
  const [day, yesterday] = countedDays(clock.now(), holdMs);
  const path = usagePath(caller.uid, day);
  const pathBefore = yesterday && usagePath(caller.uid, yesterday);
  const [document, documentBefore] = await store.get([path, ...(pathBefore ? [pathBefore] : [])]);
  const now = clock.now();
  const { wanted, estimate } = wantedBy(counting, request);
  const usage = decodeUsage(document);
  const others = openAt(usage, now).filter(({ id }) => id !== wanted.id);
  await budget.refuseSpent({
    usedMicros: totalSpentMicros(usage),
    heldMicros: sumOfCosts(others),
    wantedMicros: wanted.costMicros,
  });
  const decision = decideReservation({
    usage,
    dayBefore: documentBefore && decodeUsage(documentBefore),
    limits,
    wanted,
    abandoned: abandoned.map((messageId) => reservationId(sha256, { conversationId, messageId })),
    holdMs,
    now,
  });
  if (decision.kind === 'refused') throw quotaError(decision.refusal, caller.tier);
  const writes = [usageWrite({ path, document }, decision.usage, now)];
  if (pathBefore && decision.dayBefore)
    writes.push(
      usageWrite({ path: pathBefore, document: documentBefore }, decision.dayBefore, now),
    );
  return {
    writes,
    settle: (spending) => settleTurn(counting, { path, day, wanted, estimate }, spending),
  };
}

const streamsError = (caller: Caller, input: { limit: number; used: number; now: Date }) =>
  quotaError(
    {
      name: 'streams',
      limit: input.limit,
      used: input.used,
      reserved: 0,
      wanted: 1,
      resetTime: new Date(input.now.getTime() + STREAMS_RETRY_MS),
      retryAfterMs: STREAMS_RETRY_MS,
    },
    caller.tier,
  );

/** Throws USER_DAILY_USD where nothing is left for one who asks for work that is no message. */
async function refuseSpent(counting: Counting, caller: Caller, limits: QuotaLimits): Promise<void> {
  const { store, clock, budget } = counting;
  const now = clock.now();
  const [document] = await store.get([usagePath(caller.uid, toDay(now))]);
  const usage = decodeUsage(document);
  const own = { usedMicros: totalSpentMicros(usage), heldMicros: 0, wantedMicros: 0 };
  await budget.refuseSpent(own);
  const refusal = spentRefusal(usage, { limits, now });
  if (refusal) throw quotaError(refusal, caller.tier);
}

/** Throws USER_DAILY_CREATIONS, ANONYMOUS_LIMIT. */
async function create(
  { store, clock }: Counting,
  caller: Caller,
  input: { limits: QuotaLimits; count: number },
): Promise<readonly Write[]> {
  const { limits, count } = input;
  if (limits.creationsPerDay === 0) return [];
  const now = clock.now();
  const path = usagePath(caller.uid, toDay(now));
  const [document] = await store.get([path]);
  const decision = decideCreation(decodeUsage(document), count, { limits, now });
  if (decision.kind === 'refused') throw quotaError(decision.refusal, caller.tier);
  return [usageWrite({ path, document }, decision.usage, now)];
}

/**
 * The quota that the environment sets, counted in `quotas/{uid}/usage/{day}`, also where it sets no limit. A turn costs
 * one read before it starts, one write in its batch, and one read and one write after its end.
 */
export function createQuota(dependencies: QuotaDependencies): Quota {
  const { config, clock } = dependencies;
  const settings = quotaSettings(config);
  const budget = createBudget(dependencies, settings.globalCostMicrosPerDay);
  const counting = { ...dependencies, budget, oneAtATime: createOneAtATime() };
  const streams = createOpenStreams(clock, (QUEUE_MAX + 1) * config.TURN_TIMEOUT_MS);
  const limitsOf = ({ tier }: Caller) => settings.byTier[tier];
  const refuseStream = (caller: Caller) => {
    const { streams: limit } = limitsOf(caller);
    const used = streams.count(caller.uid);
    if (limit > 0 && used >= limit) throw streamsError(caller, { limit, used, now: clock.now() });
  };
  return {
    reserve: (request) => reserve(counting, { request, limits: limitsOf(request.caller) }),
    refuseSpent: (caller) => refuseSpent(counting, caller, limitsOf(caller)),
    create: (caller, count) => create(counting, caller, { limits: limitsOf(caller), count }),
    openStream: (caller) => {
      refuseStream(caller);
      return streams.open(caller.uid);
    },
  };
}
