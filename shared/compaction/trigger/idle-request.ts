import type {
  CompactionNeeded,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { breakEvenTurns, USUAL_PRICES } from '../policy/break-even.ts';
import { isArmed, type CompactionPolicy } from '../policy/policy.ts';

/** A conversation that nobody has used for this long has lost its place in the model's cache, or soon will. */
export const IDLE_AFTER_MS = 15 * 60_000;

/** Smaller contexts are cheap enough. */
const IDLE_FROM_TOKENS = 16_000;

/** Tokens that a compaction is expected to leave: snapshot and tail at their full size. */
function expectedTokensAfter(policy: CompactionPolicy, contentTokens: number): number {
  const tailTokens =
    policy.splitPolicy === 'preserve-fraction'
      ? policy.preserveFraction * contentTokens
      : policy.tailTokens;
  return policy.snapshotBudgetTokens + tailTokens;
}

/** Whether the owner called a compaction of what there is off, and little has come since. */
function isDeclined(
  { compactionNeeded, context }: Conversation,
  policy: CompactionPolicy,
): boolean {
  const { declined } = compactionNeeded;
  if (declined?.generation !== context.generation) return false;
  return !isArmed({ tokens: context.tokens, tokensAfterLastSwap: declined.tokens, policy });
}

/**
 * The need of a conversation that is not in use, before it reaches its threshold: at least 16,000 tokens,
 * and a compaction that pays for itself within as many turns as there have been so far (a heuristic: what
 * has lasted long lasts on). Undefined where something runs or waits, compaction is not automatic, or
 * no turn has come since the last swap.
 */
export function requestForIdle(idle: {
  conversation: Conversation;
  policy: CompactionPolicy;
  requestId: string;
  now: Date;
}): CompactionNeeded['auto'] {
  const { conversation, policy, requestId, now } = idle;
  const { state, settings, compactionNeeded, open, queue, context, generation } = conversation;
  if (state !== 'live' || open || queue) return undefined;
  if ((settings.compaction ?? 'auto') !== 'auto' || policy.softThresholdTokens === null)
    return undefined;
  if (compactionNeeded.auto || compactionNeeded.manual) return undefined;
  if (context.generation !== generation) return undefined;
  if (now.getTime() - conversation.updateTime.getTime() < IDLE_AFTER_MS) return undefined;
  const contentTokens = context.tokens - context.overheadTokens;
  if (contentTokens < IDLE_FROM_TOKENS) return undefined;
  if (isDeclined(conversation, policy)) return undefined;
  const turns = breakEvenTurns({
    tokensBefore: contentTokens,
    tokensAfter: expectedTokensAfter(policy, contentTokens),
    summaryTokens: policy.snapshotBudgetTokens,
    prices: USUAL_PRICES,
  });
  return turns <= conversation.lastSeq ? { requestId, since: now, trigger: 'idle' } : undefined;
}
