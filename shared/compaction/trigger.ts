import type {
  CompactionRequests,
  ContextMeter,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { holds, sizeBrakes, type SizeBrake } from './brake.ts';
import { policyConstants } from './constants.ts';
import { isOverThreshold, type CompactionPolicy } from './policy.ts';
import { isOverLimit } from '#shared/conversation/context/sent-view.ts';

// Requests for a context

interface DueContext {
  conversation: Pick<Conversation, 'settings' | 'context' | 'compactionRequests'>;
  history: History | undefined;
  tokens: number;
  policy: CompactionPolicy;
  requestId: string;
  now: Date;
}

/**
 * The request for a context as it stands, whoever waits for a compaction already; undefined: below the threshold, held
 * back (`sizeBrakes`), or compaction is not automatic. Equal to the threshold compacts. What overflows waits for no
 * growth since the last swap.
 */
export function requestForContext(context: DueContext): CompactionRequests['auto'] {
  const { conversation, tokens, policy, requestId, now } = context;
  if (!isAutomatic(conversation)) return undefined;
  const held = heldBy(context);
  if (isOverflowing(context) && !held.includes('DECLINED'))
    return { requestId, since: now, trigger: 'overflow' };
  if (!isOverThreshold({ tokens, overheadTokens: conversation.context.overheadTokens, policy }))
    return undefined;
  return held.length === 0 ? { requestId, since: now, trigger: 'auto' } : undefined;
}

/** Why a context of this size is not compacted by itself; empty: nothing speaks against it. */
function heldBy({ conversation, history, tokens, policy, now }: DueContext): SizeBrake['reason'][] {
  const { declined } = conversation.compactionRequests;
  return sizeBrakes({ history, declined, policy })
    .filter((brake) => holds(brake, { now, tokens }))
    .map(({ reason }) => reason);
}

/**
 * Whether a context takes a size that no threshold keeps it from: where none is set, the hard one, over which answers
 * leave turns out; else so much of the window that no message fits behind it.
 */
function isOverflowing({ conversation, tokens, policy }: DueContext): boolean {
  const { overheadTokens } = conversation.context;
  return policy.softThresholdTokens === null
    ? isOverLimit({ tokens, overheadTokens, policy })
    : tokens > policyConstants.overflowFraction * policy.windowTokens;
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
export function requestForChangedContext(context: DueContext): CompactionRequests['auto'] {
  const { conversation, history, tokens, policy, requestId, now } = context;
  if (!acceptsAutomaticRequest(conversation)) return undefined;
  const request = requestForContext(context);
  if (request) return request;
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
export function requestAfterTurn(turn: {
  conversation: Pick<Conversation, 'settings' | 'compactionRequests'>;
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
}): CompactionRequests['auto'] {
  const { conversation, meter, requestId, now } = turn;
  if (turn.isBlocked === true) return { requestId, since: now, trigger: 'blocked' };
  if (conversation.compactionRequests.auto) return undefined;
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
 * The request that a change of the model, or of the window, leaves in the conversation document: the window has become
 * smaller and the context is over the threshold that comes with it. What was saved since the last swap does not count:
 * with the new window the context may be too long for any answer. Undefined where compaction is not automatic, or an
 * automatic request waits already.
 */
export function requestForSmallerWindow(change: {
  conversation: Pick<Conversation, 'settings' | 'compactionRequests' | 'context'>;
  tokens: number;
  before: Pick<CompactionPolicy, 'windowTokens'>;
  after: CompactionPolicy;
  requestId: string;
  now: Date;
}): CompactionRequests['auto'] {
  const { conversation, tokens, before, after, requestId, now } = change;
  if (!isAutomatic(conversation) || conversation.compactionRequests.auto) return undefined;
  if (after.windowTokens >= before.windowTokens) return undefined;
  const { overheadTokens } = conversation.context;
  if (!isOverThreshold({ tokens, overheadTokens, policy: after })) return undefined;
  return { requestId, since: now, trigger: 'modelSwitch' };
}

const isAutomatic = ({ settings }: Pick<Conversation, 'settings'>) =>
  (settings.compaction ?? 'auto') === 'auto';

/** Whether a compaction may be requested without a person: compaction is automatic, and no such request waits. */
export const acceptsAutomaticRequest = (
  conversation: Pick<Conversation, 'settings' | 'compactionRequests'>,
): boolean => isAutomatic(conversation) && !conversation.compactionRequests.auto;

/** The threshold at which a conversation is compacted by itself; null: at none. */
export const automaticThreshold = (
  { softThresholdTokens }: Pick<CompactionPolicy, 'softThresholdTokens'>,
  conversation: Pick<Conversation, 'settings'>,
): number | null => (isAutomatic(conversation) ? softThresholdTokens : null);
