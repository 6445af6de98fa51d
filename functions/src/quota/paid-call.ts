import { failureReason } from '#functions/lib/failure-reason.ts';
import { AppError } from '#shared/errors.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type {
  Clock,
  DocumentStore,
  Logger,
  ModelRequest,
  ModelUsage,
  Randomness,
} from '#shared/ports/ports.ts';
import { hasLimits } from '#shared/quota/limits.ts';
import { usageAfterCall } from '#shared/quota/settle.ts';
import { decodeUsage, type WorkName } from '#shared/quota/usage.ts';
import type { Config } from '../config.ts';
import { callCostMicros, type ModelsConfig } from '../models/models-in-use.ts';
import { shardWrite } from './budget-shards.ts';
import { holdForCall, type Hold } from './hold-for-call.ts';
import { quotaSettings, RESERVED_ANSWER_TOKENS } from './quota-settings.ts';
import { usageWrite, writeGuarded } from './commit-usage.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';

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
  store: Pick<DocumentStore, 'get' | 'commit'>;
  clock: Clock;
  randomness: Randomness;
  logger: Logger;
}

/** A call of a model that answers no message, and whose dollars it takes. */
export interface WorkCall {
  work: WorkName;
  conversationId: string;
  ownerUid: string;
  request: ModelRequest;
  /** A later call of a piece of work that is counted already. */
  isMore?: boolean;
  /** Told between two effects; what it throws leaves the hold as it is, as a crash does. */
  pass?: (point: 'call-held' | 'call-answered') => Promise<void>;
}

interface Taken {
  tokens: number;
  costMicros: number;
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
function takenBy(config: Config, { request }: WorkCall, usage: ModelUsage | undefined): Taken {
  if (!usage) return callBound(config, request);
  const costMicros = callCostMicros(config, reportedCall(request.model, usage));
  return { tokens: usage.promptTokens + usage.outputTokens + usage.thoughtsTokens, costMicros };
}

/**
 * What a call took that failed. One that its owner can break off whenever they like counts as all that it held; one
 * that a model does not answer in time is none of theirs, and counts as an answer does that was stopped.
 */
function takenInVain(config: Config, { request }: WorkCall, error: unknown): Taken {
  if (!mayBeBilled(error)) return NOTHING;
  return error instanceof AppError && error.reason === 'MODEL_TIMEOUT'
    ? callEstimate(config, request, RESERVED_ANSWER_TOKENS)
    : callBound(config, request);
}

/**
 * Puts what was taken in the place of what was held. Never throws: what could not be settled is logged, and expires.
 * Nothing of a user who was erased meanwhile is made anew.
 */
async function settleCall(
  { store, clock, logger }: PayingDependencies,
  hold: Hold,
  { call, taken }: { call: WorkCall; taken: Taken },
): Promise<void> {
  const { day, usagePath: path, shardPath } = hold;
  const { work, isMore = false } = call;
  let wasHeld = false;
  try {
    await writeGuarded(clock, async () => {
      const [document, shard] = await store.get([path, ...(shardPath ? [shardPath] : [])]);
      const usage = decodeUsage(document);
      // Its own commit was applied where the hold is gone that was there before; one that expired was not.
      const isHeld = usage.held.some(({ id }) => id === hold.id);
      if (wasHeld && !isHeld) return;
      wasHeld = isHeld;
      const now = clock.now();
      const after = usageAfterCall(usage, { work, isMore, id: hold.id, ...taken });
      const change = { addMicros: taken.costMicros, release: hold.id };
      await store.commit([
        ...(document ? [usageWrite({ path, document }, after, now)] : []),
        ...(shardPath ? [shardWrite({ path: shardPath, document: shard }, change, now)] : []),
      ]);
    });
  } catch (error) {
    const reason = failureReason(error);
    const { conversationId } = call;
    logger.log('WARNING', 'quota_not_settled', {
      conversationId,
      day,
      tokens: taken.tokens,
      reason,
    });
  }
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
  const { request, conversationId, ownerUid } = call;
  const holding = {
    conversationId,
    ownerUid,
    costMicros: callBound(config, request).costMicros,
    // No call of a model is waited for longer.
    holdMs: config.COMPACTION_TIMEOUT_MS,
  };
  const hold = hasLimits(settings) ? await holdForCall(dependencies, settings, holding) : undefined;
  const settle = async (taken: Taken) => {
    if (hold) await settleCall(dependencies, hold, { call, taken });
  };
  await call.pass?.('call-held');
  let answer: T;
  try {
    answer = await ask();
  } catch (error) {
    await settle(takenInVain(config, call, error));
    throw error;
  }
  await call.pass?.('call-answered');
  const taken = takenBy(config, call, answer.usage);
  const costMicros = answer.usage && taken.costMicros;
  return { answer, costMicros, settled: settle(taken) };
}
