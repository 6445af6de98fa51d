import type { Config } from '#functions/config.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { type ModelsConfig, callCostMicros } from '#functions/models/models-in-use.ts';
import type { UnpaidReason } from '#shared/compaction/outcome.ts';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { sameConversationWrite } from '#shared/conversation/writes/same-conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type {
  Clock,
  Logger,
  ModelRequest,
  ModelUsage,
  Randomness,
  StoredDocument,
  Write,
} from '#shared/ports/ports.ts';
import { workRefusedError } from '#shared/quota/quota-error.ts';
import {
  OPEN_MAX,
  type QuotaSettings,
  hasLimits,
  spendRefusal,
} from '#shared/quota/reserve-decision.ts';
import {
  type Usage,
  type WorkName,
  heldAt,
  noUsage,
  openAt,
  sumOfCosts,
  toDay,
  totalSpentMicros,
  usageAfterCall,
} from '#shared/quota/usage.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { Accounting } from './accounting.ts';
import { RESERVED_ANSWER_TOKENS, quotaSettings } from './quota-settings.ts';

/** What a call that names no bound of its answer is taken to write, tokens: several times a condensed output. */
const ASSUMED_OUTPUT_TOKENS = 8_192;

/** Tokens and millionths of a dollar that a call takes at most: its prompt uncached, and the longest answer. */
const callBound = (config: ModelsConfig, request: ModelRequest) =>
  callEstimate(config, request, request.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS);

/** The same with an answer of so many tokens. */
function callEstimate(config: ModelsConfig, request: ModelRequest, outputTokens: number) {
  const promptTokens = estimatePromptTokens(request, 'character-class');
  const call = { model: request.model, promptTokens, cachedTokens: 0, outputTokens };
  return { tokens: promptTokens + outputTokens, costMicros: callCostMicros(config, call) };
}

interface PayingDependencies {
  config: Config;
  accounting: Accounting;
  clock: Pick<Clock, 'now'>;
  randomness: Randomness;
  logger: Logger;
}

/** A call of a model that answers no message, and whose dollars it takes. */
export interface WorkCall {
  /** What chooses a model is paid for by its turn. */
  work: Exclude<WorkName, 'routing'>;
  conversationId: string;
  ownerUid: string;
  request: ModelRequest;
  /** A later call of a piece of work that is counted already. */
  isMore?: boolean;
  /** Told between two effects; what it throws leaves the hold as it is, as a crash does. */
  pass?: (point: 'call-held' | 'call-answered') => Promise<void>;
}

/** What a call took. */
export interface Taken {
  tokens: number;
  costMicros: number;
}

/** An answer, what it cost in millionths of a dollar, and the end of its settlement. */
interface Paid<T> {
  answer: T;
  /** Absent where the model reported no figures. */
  costMicros: number | undefined;
  /** Never rejects. */
  settled: Promise<void>;
}

/**
 * The one way to call a model for anything but an answer: what the call may cost is held before it is made, of its
 * user's dollars and of those of all, and what it took is settled behind it, whatever came of it. It is no message and takes no
 * tokens of the day. Throws USER_DAILY_USD and GLOBAL_BUDGET before the model is asked, what `ask` throws,
 * GuardLostError, StoreUnavailableError.
 */
export async function paidCall<T extends { usage?: ModelUsage | undefined }>(
  dependencies: PayingDependencies,
  call: WorkCall,
  ask: () => Promise<T>,
): Promise<Paid<T>> {
  const { config } = dependencies;
  const settings = quotaSettings(config);
  const hold = hasLimits(settings) ? await holdForCall(dependencies, settings, call) : undefined;
  await call.pass?.('call-held');
  let answer: T;
  try {
    answer = await ask();
  } catch (error) {
    await hold?.settle(takenInVain(config, call.request, error));
    throw error;
  }
  await call.pass?.('call-answered');
  const taken = takenByCall(config, call.request, answer.usage);
  const costMicros = answer.usage && taken.costMicros;
  return { answer, costMicros, settled: hold?.settle(taken) ?? Promise.resolve() };
}

/** What a model answers with that has done nothing that is billed. */
const UNBILLED: ReadonlySet<string> = new Set([
  'MODEL_QUOTA',
  'MODEL_OVERLOADED',
  'MODEL_UNKNOWN',
  'MODEL_REFUSED_REQUEST',
  'MODEL_CONTEXT_OVERFLOW',
  'MODEL_PAUSED',
]);

/** Whether a call that failed so may be billed. */
export const mayBeBilled = (error: unknown): boolean =>
  !(error instanceof AppError && UNBILLED.has(error.reason));

const NOTHING: Taken = { tokens: 0, costMicros: 0 };

/** What the model reported; an answer without figures counts as all that it held. */
export function takenByCall(
  config: Config,
  request: ModelRequest,
  usage: ModelUsage | undefined,
): Taken {
  if (!usage) return callBound(config, request);
  const costMicros = callCostMicros(config, reportedCall(request.model, usage));
  return { tokens: usage.promptTokens + usage.outputTokens + usage.thoughtsTokens, costMicros };
}

/**
 * What a call took that failed. One that its owner can break off whenever they like counts as all that it held; one
 * that a model does not answer in time is none of theirs, and counts as an answer does that was stopped.
 */
export function takenInVain(config: Config, request: ModelRequest, error: unknown): Taken {
  if (!mayBeBilled(error)) return NOTHING;
  return error instanceof AppError && error.reason === 'MODEL_TIMEOUT'
    ? callEstimate(config, request, RESERVED_ANSWER_TOKENS)
    : callBound(config, request);
}

/** Figures that are not there yet begin below a live conversation alone: nothing of an erased user is made anew. */
function guardOfFirst(conversationId: string, document: StoredDocument | undefined): Write {
  if (!document || decodeConversation(document).value.state !== 'live')
    throw new AppError({
      reason: 'CONVERSATION_NOT_FOUND',
      publicMessage: 'The conversation is not there any more.',
    });
  return sameConversationWrite(conversationId, document.updateTime);
}

/** Throws USER_DAILY_USD where a call does not fit beside what its user has spent and holds. */
function refuseOver(usage: Usage, input: { limitMicros: number; wantedMicros: number; now: Date }) {
  const { limitMicros, wantedMicros, now } = input;
  const held = heldAt(usage.held, now);
  const heldMicros = sumOfCosts(openAt(usage, now)) + sumOfCosts(held);
  const spending = { limitMicros, usedMicros: totalSpentMicros(usage), heldMicros, wantedMicros };
  const refusal = held.length < OPEN_MAX ? spendRefusal(spending) : 'held';
  if (refusal) throw workRefusedError(refusal, spending, now);
}

/** What a call holds until it is settled. */
interface Hold {
  settle(taken: Taken): Promise<void>;
}

/**
 * Puts what was taken in the place of what was held. Never throws: what could not be settled is logged, and expires.
 * Nothing of a user who was erased meanwhile is made anew.
 */
async function settleCall(
  { accounting, logger }: PayingDependencies,
  call: WorkCall,
  { id, day, taken }: { id: string; day: string; taken: Taken },
): Promise<void> {
  const { work, isMore = false, ownerUid, conversationId } = call;
  const { tokens } = taken;
  try {
    await accounting.usage.change(ownerUid, {
      days: [day],
      decide: (usageOf) => {
        const usage = usageOf(day);
        const after = usage && usageAfterCall(usage, { work, isMore, id, ...taken });
        return { result: undefined, ...(after && { usage: { [day]: after } }) };
      },
    });
  } catch (error) {
    const reason = failureReason(error);
    logger.log('WARNING', 'quota_not_settled', { conversationId, day, tokens, reason });
  }
}

/**
 * Holds what a call may cost at most, of its user's dollars and of those of all. What is not settled expires after
 * COMPACTION_TIMEOUT_MS: no call of a model is waited for longer. Throws USER_DAILY_USD, GLOBAL_BUDGET,
 * CONVERSATION_NOT_FOUND, GuardLostError, StoreUnavailableError.
 */
async function holdForCall(
  dependencies: PayingDependencies,
  { byTier, globalCostMicrosPerDay }: QuotaSettings,
  call: WorkCall,
): Promise<Hold> {
  const { config, clock, randomness, accounting } = dependencies;
  const { conversationId, ownerUid } = call;
  const { costMicros } = callBound(config, call.request);
  const id = randomness.uuid();
  const day = toDay(clock.now());
  const untilFrom = (now: Date) => new Date(now.getTime() + config.COMPACTION_TIMEOUT_MS);
  const onItsWay = { costMicros, until: untilFrom(clock.now()) };
  const ofAll = await accounting.budget.hold(globalCostMicrosPerDay, onItsWay);
  try {
    await accounting.usage.change(ownerUid, {
      days: [day],
      paths: [conversationPath(conversationId)],
      decide: (usageOf, [conversation]) => {
        const now = clock.now();
        const stored = usageOf(day);
        const usage = stored ?? noUsage;
        // Dollars are the same for everybody.
        const { costMicrosPerDay: limitMicros } = byTier.signedIn;
        refuseOver(usage, { limitMicros, wantedMicros: costMicros, now });
        const held = [...heldAt(usage.held, now), { id, costMicros, until: untilFrom(now) }];
        return {
          result: undefined,
          usage: { [day]: { ...usage, held } },
          writes: stored ? [] : [guardOfFirst(conversationId, conversation)],
        };
      },
    });
  } catch (error) {
    await ofAll.settle(0);
    throw error;
  }
  return {
    settle: async (taken) => {
      const settled = settleCall(dependencies, call, { id, day, taken });
      await Promise.all([settled, ofAll.settle(taken.costMicros)]);
    },
  };
}

/**
 * The limit in dollars of which nothing is left for work of this user; undefined: a call may be tried, which holds
 * what it needs. Throws StoreUnavailableError.
 */
export async function exhaustedBudget(
  {
    config,
    clock,
    accounting,
  }: { config: Config; clock: Pick<Clock, 'now'>; accounting: Accounting },
  ownerUid: string,
): Promise<UnpaidReason | undefined> {
  const settings = quotaSettings(config);
  if (!hasLimits(settings)) return undefined;
  const limitMicros = settings.byTier.signedIn.costMicrosPerDay;
  const usedMicros = totalSpentMicros(await accounting.usage.read(ownerUid, toDay(clock.now())));
  if (spendRefusal({ limitMicros, usedMicros, heldMicros: 0, wantedMicros: 0 }))
    return 'USER_DAILY_USD';
  const isSpent = await accounting.budget.isSpent(settings.globalCostMicrosPerDay);
  return isSpent ? 'GLOBAL_BUDGET' : undefined;
}
