import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { conversationPolicy, meterCounting } from '#functions/config/conversation-policy.ts';
import { publishOverdue, publishRequest } from '#functions/events/publish-request.ts';
import { policyConstants } from '#shared/compaction/constants.ts';
import { isSwitchedOff } from '#shared/compaction/request-decisions.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError, mayBeCommitted } from '#shared/lib/errors.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { type SendRequest, userContent } from './send/send-request.ts';

/** When the client should try again, ms: a compaction takes seconds. */
const OVERFLOW_RETRY_MS = 5_000;

/** What is to be sent, and what the window already holds, in tokens. */
interface CallSizes {
  contextTokens: number;
  requestTokens: number;
  windowTokens: number;
}

const willOverflow = ({ contextTokens, requestTokens, windowTokens }: CallSizes) =>
  requestTokens > policyConstants.overflowFraction * Math.max(0, windowTokens - contextTokens);

/** What overflows, and what its user can do while a compaction is on its way. */
const overflowing = {
  message: {
    subject: 'The message',
    advice:
      '. A compaction of the conversation is asked for: send it again in a moment, or shorten it.',
  },
  toolOutputs: {
    subject: 'What the tools of this answer have given',
    advice:
      '. A compaction of the conversation is asked for: send the same message again in a moment.',
  },
};

type Overflowing = keyof typeof overflowing;

function overflowError(
  conversationId: string,
  { contextTokens, requestTokens, windowTokens }: CallSizes,
  { what, isCompacting }: { what: Overflowing; isCompacting: boolean },
): AppError {
  const remainingTokens = Math.max(0, windowTokens - contextTokens);
  const { subject } = overflowing[what];
  const advice = isCompacting
    ? overflowing[what].advice
    : ` of the model's window of ${windowTokens}. Shorten it, or begin a new conversation.`;
  return new AppError({
    status: isCompacting ? 'UNAVAILABLE' : 'FAILED_PRECONDITION',
    reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
    message: `message of ~${requestTokens} tokens refused in ${conversationId}: ${remainingTokens} of ${windowTokens} left`,
    publicMessage: `${subject} (about ${requestTokens} tokens) does not fit the ${remainingTokens} tokens that are left${advice}`,
    metadata: {
      estimatedRequestTokenCount: String(requestTokens),
      remainingTokenCount: String(remainingTokens),
    },
    ...(isCompacting && { retryAfterMs: OVERFLOW_RETRY_MS }),
  });
}

/**
 * Refuses a message that would not fit even into an empty conversation, before a turn is interrupted for it or it waits
 * in the queue. Throws CONTEXT_WINDOW_WILL_OVERFLOW with both figures.
 */
export function refuseHopeless(
  { config }: Pick<ChatDependencies, 'config'>,
  request: SendRequest,
  conversation: Conversation,
): void {
  const { context } = conversation;
  const { windowTokens } = conversationPolicy(config, conversation);
  const userTokens = estimateContentTokens(userContent(request), meterCounting(conversation));
  const requestTokens = Math.ceil(context.calibration * userTokens);
  const sizes = { requestTokens, windowTokens, contextTokens: context.overheadTokens };
  if (willOverflow(sizes))
    throw overflowError(request.conversationId, sizes, { what: 'message', isCompacting: false });
}

/**
 * Throws CONTEXT_WINDOW_WILL_OVERFLOW, with both figures, where a call cannot fit, and first asks for a compaction
 * where that can help the next try. The first call of a turn is refused before anything is stored; a later one leaves
 * its rounds to the next attempt.
 */
export async function refuseOrCompact(
  dependencies: ChatDependencies,
  call: {
    conversationId: string;
    what: Overflowing;
    /** As the turn sees it. */
    conversation: Conversation;
    contextTokens: number;
    requestTokens: number;
    /** The conversation document in which a compaction is asked for; undefined: it could make no room. */
    toCompact: () => Promise<Versioned<Conversation> | undefined>;
  },
): Promise<void> {
  const { conversationId, what, conversation, contextTokens, requestTokens } = call;
  const { windowTokens, snapshotBudgetTokens } = conversationPolicy(
    dependencies.config,
    conversation,
  );
  const sizes = { requestTokens, contextTokens, windowTokens };
  if (!willOverflow(sizes)) return;
  // The context when everything before the call is folded.
  const compactedTokens = conversation.context.overheadTokens + snapshotBudgetTokens;
  const toCompact = await call.toCompact();
  const isCompacting =
    toCompact !== undefined &&
    !willOverflow({ ...sizes, contextTokens: compactedTokens }) &&
    (await requestForOverflow(dependencies, conversationId, toCompact));
  throw overflowError(conversationId, sizes, { what, isCompacting });
}

/** Whether a compaction waits that a worker will run: the owner may have switched it off meanwhile. */
const isWaiting = ({ compactionRequests: { auto, manual }, settings }: Conversation): boolean =>
  manual !== undefined || (auto !== undefined && !isSwitchedOff(settings, auto.trigger));

/** Asks for a compaction unless one waits; false: none is on its way. */
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
    return false; // Another write changed the conversation: the next message that is refused asks again.
  }
  await publishRequest(dependencies, { conversationId, requestId, trigger: 'overflow' });
  return true;
}
