import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting, conversationPolicy } from '#functions/config/conversation-policy.ts';
import { publishOverdue, publishRequest } from '#functions/events/publish-request.ts';
import { isSwitchedOff } from '#shared/compaction/claim-decision.ts';
import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import { policyConstants } from '#shared/compaction/policy-constants.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError, mayBeCommitted } from '#shared/errors.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { userContent, type SendRequest } from '../send/send-request.ts';
import type { ContextBefore } from './context-before.ts';

/** A compaction takes seconds; earlier there is nothing to try again for, ms. */
const OVERFLOW_RETRY_MS = 5_000;

const willOverflow = (sizes: {
  contextTokens: number;
  requestTokens: number;
  windowTokens: number;
}) =>
  sizes.requestTokens >
  policyConstants.overflowFraction.value * Math.max(0, sizes.windowTokens - sizes.contextTokens);

interface Sizes {
  contextTokens: number;
  requestTokens: number;
  /** Part of the context that no compaction can shrink. */
  overheadTokens: number;
  policy: Pick<CompactionPolicy, 'windowTokens' | 'snapshotBudgetTokens'>;
}

/** Whether a message would fit once everything before it is a snapshot. */
const fitsAfterCompaction = ({
  requestTokens,
  overheadTokens,
  policy,
}: Omit<Sizes, 'contextTokens'>) =>
  !willOverflow({
    requestTokens,
    windowTokens: policy.windowTokens,
    contextTokens: overheadTokens + policy.snapshotBudgetTokens,
  });

function overflowError(
  conversationId: string,
  sizes: {
    requestTokens: number;
    contextTokens: number;
    windowTokens: number;
    advice: string;
    /** Default: the message. */
    subject?: string;
    retryable?: boolean;
  },
): AppError {
  const { requestTokens, windowTokens, advice, subject = 'The message', retryable } = sizes;
  const remainingTokens = Math.max(0, windowTokens - sizes.contextTokens);
  return new AppError({
    status: retryable === true ? 'UNAVAILABLE' : 'FAILED_PRECONDITION',
    reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
    message: `message of ~${requestTokens} tokens refused in ${conversationId}: ${remainingTokens} of ${windowTokens} left`,
    publicMessage: `${subject} (about ${requestTokens} tokens) does not fit the ${remainingTokens} tokens that are left${advice}`,
    metadata: {
      estimatedRequestTokenCount: String(requestTokens),
      remainingTokenCount: String(remainingTokens),
    },
    ...(retryable === true && { retryable, retryAfterMs: OVERFLOW_RETRY_MS }),
  });
}

/** What can be done about a message that no compaction makes room for. */
const shortenIt = (windowTokens: number) =>
  ` of the model's window of ${windowTokens}. Shorten it, or begin a new conversation.`;

/**
 * Refuses a message that would not fit if there were nothing before it, so that nobody is interrupted, and
 * nothing waits, for what must fail. Throws CONTEXT_WINDOW_WILL_OVERFLOW with both figures.
 */
export function refuseHopeless(
  { config }: Pick<ChatDependencies, 'config'>,
  request: SendRequest,
  conversation: Versioned<Conversation> | undefined,
): void {
  if (!conversation) return;
  const { context } = conversation.value;
  const { windowTokens } = conversationPolicy(config, conversation.value);
  const userTokens = estimateContentTokens(userContent(request), meterCounting(conversation.value));
  const requestTokens = Math.ceil(context.calibration * userTokens);
  const sizes = { requestTokens, windowTokens, contextTokens: context.overheadTokens };
  if (!willOverflow(sizes)) return;
  throw overflowError(request.conversationId, { ...sizes, advice: shortenIt(windowTokens) });
}

/** Whether a compaction waits that a worker will serve: the owner may have switched it off meanwhile. */
const isWaiting = ({ compactionRequests: { auto, manual }, settings }: Conversation): boolean =>
  manual !== undefined || (auto !== undefined && !isSwitchedOff(settings, auto.trigger));

/** Resolves to whether a compaction is asked for. */
async function requestForOverflow(
  dependencies: ChatDependencies,
  conversationId: string,
  conversation: Versioned<Conversation>,
): Promise<boolean> {
  const requestId = dependencies.randomness.uuid();
  const since = dependencies.clock.now();
  const { compactionRequests, settings, lastSeq } = conversation.value;
  if (isWaiting(conversation.value)) {
    await publishOverdue(dependencies, conversationId, compactionRequests);
    return true;
  }
  if (settings.compaction === 'off' || lastSeq === 0) return false;
  try {
    await dependencies.store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { 'compactionRequests.auto': { requestId, since, trigger: 'overflow' } },
        guard: { updateTime: conversation.updateTime },
      },
    ]);
  } catch (error) {
    if (!mayBeCommitted(error)) throw error;
    return false; // someone else changed the conversation; the next refused message asks again
  }
  await publishRequest(dependencies, { conversationId, requestId, trigger: 'overflow' });
  return true;
}

/**
 * Refuses the next call of a turn whose tools have given more than fits, and asks for a compaction where that
 * makes room: then the same message may be sent again, and goes on with the rounds that are stored.
 * Throws CONTEXT_WINDOW_WILL_OVERFLOW with both figures.
 */
export async function refuseRoundOverflow(
  dependencies: ChatDependencies,
  check: Sizes & {
    conversationId: string;
    conversation: () => Promise<Versioned<Conversation> | undefined>;
  },
): Promise<void> {
  const { conversationId, requestTokens, contextTokens } = check;
  const { windowTokens } = check.policy;
  if (!willOverflow({ requestTokens, contextTokens, windowTokens })) return;
  const conversation = await check.conversation();
  const isOnItsWay =
    conversation !== undefined &&
    fitsAfterCompaction(check) &&
    (await requestForOverflow(dependencies, conversationId, conversation));
  const advice = isOnItsWay
    ? '. A compaction of the conversation is asked for: send the same message again in a moment.'
    : shortenIt(windowTokens);
  const subject = 'What the tools of this answer have given';
  const sizes = { requestTokens, contextTokens, windowTokens, advice, subject };
  throw overflowError(conversationId, { ...sizes, retryable: isOnItsWay });
}

/**
 * Refuses a message that cannot fit the window, before anything is written, and asks for a compaction
 * where that can let the next try succeed. Throws CONTEXT_WINDOW_WILL_OVERFLOW with both figures.
 */
export async function refuseOverflow(
  dependencies: ChatDependencies,
  check: {
    conversationId: string;
    conversation: Versioned<Conversation> | { create: Conversation };
    before: ContextBefore;
    contextTokens: number;
    sentTokens: number;
  },
): Promise<void> {
  const { conversationId, conversation, before, contextTokens } = check;
  const { calibration, overheadTokens } = before.conversation.context;
  const requestTokens = Math.ceil(calibration * check.sentTokens);
  const policy = conversationPolicy(dependencies.config, before.conversation);
  const { windowTokens } = policy;
  if (!willOverflow({ requestTokens, contextTokens, windowTokens })) return;
  const isOnItsWay =
    // A compaction of the present context makes no room in the one that an edit goes back to.
    before.replacement === undefined &&
    !('create' in conversation) &&
    fitsAfterCompaction({ requestTokens, overheadTokens, policy }) &&
    (await requestForOverflow(dependencies, conversationId, conversation));
  const advice = isOnItsWay
    ? '. A compaction of the conversation is asked for: send it again in a moment, or shorten it.'
    : shortenIt(windowTokens);
  const sizes = { requestTokens, contextTokens, windowTokens, advice };
  throw overflowError(conversationId, { ...sizes, retryable: isOnItsWay });
}
