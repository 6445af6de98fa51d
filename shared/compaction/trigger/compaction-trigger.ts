import type {
  CompactionNeeded,
  ContextMeter,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { policyConstants } from '../policy/policy-constants.ts';
import { isOverLimit } from '../summariser/shrunken-view.ts';
import { isArmed, isOverThreshold, type CompactionPolicy } from '../policy/policy.ts';

type LastSwap = Pick<History, 'afterTokens' | 'isPartial' | 'unproductiveSwaps'> | undefined;

const hasStalled = (history: LastSwap) =>
  (history?.unproductiveSwaps ?? 0) >= policyConstants.stalledSwaps.value;

/**
 * Tokens beyond which compaction re-arms; null: at once, because nothing was swapped, or not all of it and
 * what was swapped got on.
 */
export function tokensAfterLastSwap(history: LastSwap): number | null {
  if (history === undefined) return null;
  return history.isPartial === true && !hasStalled(history) ? null : history.afterTokens;
}

/**
 * Tokens beyond which automatic compaction re-arms: those after the last swap, or, if they are more, those at
 * which the owner called a compaction of this generation off, or one saved too little.
 */
export function tokensToGrowFrom(
  history: History | undefined,
  { declined }: CompactionNeeded,
): number | null {
  const afterSwap = tokensAfterLastSwap(history);
  if (declined === undefined || declined.generation !== (history?.generation ?? 0))
    return afterSwap;
  return Math.max(afterSwap ?? 0, declined.tokens);
}

/**
 * How many swaps in a row have made no progress, one more included: it saved neither the share that an
 * automatic run must save nor as much as re-arms it. Both counts by the same counter.
 */
export function unproductiveSwapsAfter(
  history: LastSwap,
  swap: {
    beforeTokens: number;
    afterTokens: number;
    policy: Pick<
      CompactionPolicy,
      'minimumSavingFraction' | 'rearmFraction' | 'softThresholdTokens' | 'hardThresholdTokens'
    >;
  },
): number {
  const { beforeTokens, afterTokens, policy } = swap;
  const progressTokens = Math.min(
    policy.minimumSavingFraction * beforeTokens,
    policy.rearmFraction * (policy.softThresholdTokens ?? policy.hardThresholdTokens),
  );
  if (beforeTokens - afterTokens >= progressTokens) return 0;
  return (history?.unproductiveSwaps ?? 0) + 1;
}

/**
 * Whether compaction without a person's request stops: two swaps in a row made no progress, and the context
 * has not grown since by what re-arms it. Overflows and partial folds, which need not save much, end here.
 */
export function isStalled(context: {
  history: LastSwap;
  tokens: number;
  policy: Pick<CompactionPolicy, 'rearmFraction' | 'softThresholdTokens' | 'hardThresholdTokens'>;
}): boolean {
  const { history, tokens, policy } = context;
  if (history === undefined || !hasStalled(history)) return false;
  const scaleTokens = policy.softThresholdTokens ?? policy.hardThresholdTokens;
  return tokens - history.afterTokens < policy.rearmFraction * scaleTokens;
}

const isAutomatic = ({ settings }: Pick<Conversation, 'settings'>) =>
  (settings.compaction ?? 'auto') === 'auto';

/** Whether a compaction may be requested without a person: compaction is automatic, and no such request waits. */
export const acceptsAutomaticRequest = (
  conversation: Pick<Conversation, 'settings' | 'compactionNeeded'>,
): boolean => isAutomatic(conversation) && !conversation.compactionNeeded.auto;

/** The threshold at which a conversation is compacted by itself; null: at none. */
export const automaticThreshold = (
  { softThresholdTokens }: Pick<CompactionPolicy, 'softThresholdTokens'>,
  conversation: Pick<Conversation, 'settings'>,
): number | null => (isAutomatic(conversation) ? softThresholdTokens : null);

interface DueContext {
  conversation: Pick<Conversation, 'settings' | 'context' | 'compactionNeeded'>;
  history: History | undefined;
  tokens: number;
  policy: CompactionPolicy;
  requestId: string;
  now: Date;
}

/**
 * Whether a context takes a size that no threshold keeps it from: where none is set, the hard one, over which answers
 * leave turns out; else so much of the window that no message fits behind it.
 */
function isOverflowing({ conversation, tokens, policy }: DueContext): boolean {
  const { overheadTokens } = conversation.context;
  return policy.softThresholdTokens === null
    ? isOverLimit({ tokens, overheadTokens, policy })
    : tokens > policyConstants.overflowFraction.value * policy.windowTokens;
}

/** Whether the owner has called a compaction of about this context off, or one of it saved too little. */
function isDeclined({ conversation, history, tokens, policy }: DueContext): boolean {
  const { declined } = conversation.compactionNeeded;
  if (declined?.generation !== (history?.generation ?? 0)) return false;
  const scaleTokens = policy.softThresholdTokens ?? policy.hardThresholdTokens;
  return tokens - declined.tokens < policy.rearmFraction * scaleTokens;
}

/**
 * The need of a context as it stands, whoever waits for a compaction already; undefined: below the
 * threshold, not armed since the last swap, or compaction is not automatic. Equal to the threshold compacts. What
 * overflows waits for neither.
 */
export function requestForContext(context: DueContext): CompactionNeeded['auto'] {
  const { conversation, history, tokens, policy, requestId, now } = context;
  if (!isAutomatic(conversation)) return undefined;
  if (isOverflowing(context) && !isDeclined(context))
    return { requestId, since: now, trigger: 'overflow' };
  if (!isOverThreshold({ tokens, overheadTokens: conversation.context.overheadTokens, policy }))
    return undefined;
  const tokensBefore = tokensToGrowFrom(history, conversation.compactionNeeded);
  if (!isArmed({ tokens, tokensAfterLastSwap: tokensBefore, policy })) return undefined;
  return { requestId, since: now, trigger: 'auto' };
}

/**
 * The request for a context that a person has changed (edit, deletion, restore, undelete). The first line that holds:
 *
 * | The context | Request |
 * |---|---|
 * | is not compacted automatically, or an automatic request waits | none |
 * | overflows, or has crossed the threshold (`requestForContext`) | as there |
 * | exceeds the hard threshold: the next answer would have to do without part of it | overflow |
 * | has a snapshot that statements were taken out of; the worker finds whether its turns are worth it | auto |
 * | is anything else, or has no threshold | none |
 *
 * A person's own request is none of the threshold's: it does not matter whether one waits.
 */
export function requestForChangedContext(context: DueContext): CompactionNeeded['auto'] {
  const { conversation, history, tokens, policy, requestId, now } = context;
  if (!acceptsAutomaticRequest(conversation)) return undefined;
  const need = requestForContext(context);
  if (need) return need;
  if (tokens - conversation.context.overheadTokens >= policy.hardThresholdTokens)
    return { requestId, since: now, trigger: 'overflow' };
  return history?.rederiveFrom !== undefined && policy.softThresholdTokens !== null
    ? { requestId, since: now, trigger: 'auto' }
    : undefined;
}

/**
 * The request that a finished turn leaves in the conversation document, or undefined: nothing to ask for
 * (`requestForContext`), or asked for already. A person's request is none of the threshold's: the context may grow
 * beyond it. A prompt that the model found too long asks in any case unless compaction is off; one that a filter blocked
 * always asks.
 */
export function compactionNeed(turn: {
  conversation: Pick<Conversation, 'settings' | 'compactionNeeded'>;
  history: History | undefined;
  /** Absent when the turn left the context as it was. */
  meter: ContextMeter | undefined;
  /** The model refused the prompt for its length: our estimate was too low. */
  isOverflow: boolean;
  /** A filter of the model blocked the prompt, and there is a context that it may be for. */
  isBlocked?: boolean;
  policy: CompactionPolicy;
  requestId: string;
  now: Date;
}): CompactionNeeded['auto'] {
  const { conversation, meter, requestId, now } = turn;
  if (turn.isBlocked === true) return { requestId, since: now, trigger: 'blocked' };
  if (conversation.compactionNeeded.auto) return undefined;
  if (turn.isOverflow && conversation.settings.compaction !== 'off')
    return { requestId, since: now, trigger: 'overflow' };
  if (meter === undefined) return undefined;
  return requestForContext({
    ...turn,
    conversation: { ...conversation, context: meter },
    tokens: meter.tokens,
  });
}

/**
 * The need that a change of the model, or of the window, leaves in the conversation document: the window has become
 * smaller and the context is over the threshold that comes with it. What was saved since the last swap does not count:
 * with the new window the context may be too long for any answer. Undefined where compaction is not automatic, or an
 * automatic need waits already.
 */
export function requestForSmallerWindow(change: {
  conversation: Pick<Conversation, 'settings' | 'compactionNeeded' | 'context'>;
  tokens: number;
  before: Pick<CompactionPolicy, 'windowTokens'>;
  after: CompactionPolicy;
  requestId: string;
  now: Date;
}): CompactionNeeded['auto'] {
  const { conversation, tokens, before, after, requestId, now } = change;
  if (!isAutomatic(conversation) || conversation.compactionNeeded.auto) return undefined;
  if (after.windowTokens >= before.windowTokens) return undefined;
  const { overheadTokens } = conversation.context;
  if (!isOverThreshold({ tokens, overheadTokens, policy: after })) return undefined;
  return { requestId, since: now, trigger: 'modelSwitch' };
}
