import type { Head, Versioned } from '../../../../shared/conversation/head.ts';
import { headPath } from '../../../../shared/conversation/paths.ts';
import { AppError, GuardLostError, StoreUnavailableError } from '../../../../shared/errors.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { publishOverdue, publishRequest } from '../answer/publish-request.ts';

/** A request may fill this share of what the window has left (Gemini CLI's factor before its #16914). */
export const OVERFLOW_FRACTION = 0.95;

export const willOverflow = (sizes: {
  contextTokens: number;
  requestTokens: number;
  windowTokens: number;
}) =>
  sizes.requestTokens > OVERFLOW_FRACTION * Math.max(0, sizes.windowTokens - sizes.contextTokens);

/** Resolves to whether a compaction is on its way. */
async function requestForOverflow(
  dependencies: ChatDependencies,
  conversationId: string,
  head: Versioned<Head>,
): Promise<boolean> {
  const requestId = dependencies.randomness.uuid();
  const since = dependencies.clock.now();
  const { compactionNeeded, settings, lastSeq } = head.value;
  if (compactionNeeded.auto || compactionNeeded.manual) {
    await publishOverdue(dependencies, conversationId, compactionNeeded);
    return true;
  }
  if (settings.compaction === 'off' || lastSeq === 0) return false;
  try {
    await dependencies.store.commit([
      {
        op: 'update',
        path: headPath(conversationId),
        fields: { 'compactionNeeded.auto': { requestId, since, trigger: 'overflow' } },
        guard: { updateTime: head.updateTime },
      },
    ]);
  } catch (error) {
    const isOpen = error instanceof GuardLostError || error instanceof StoreUnavailableError;
    if (!isOpen) throw error;
    return false; // someone else changed the conversation; the next refused message asks again
  }
  await publishRequest(dependencies, { conversationId, requestId });
  return true;
}

/**
 * Refuses a message that cannot fit the window, before anything is written, and asks for a compaction
 * so that the next try can succeed. Throws CONTEXT_WINDOW_WILL_OVERFLOW with both figures.
 */
export async function refuseOverflow(
  dependencies: ChatDependencies,
  check: {
    conversationId: string;
    head: Versioned<Head> | { create: Head };
    asksForCompaction: boolean;
    contextTokens: number;
    requestTokens: number;
    windowTokens: number;
  },
): Promise<void> {
  if (!willOverflow(check)) return;
  const { conversationId, head, requestTokens } = check;
  const remainingTokens = Math.max(0, check.windowTokens - check.contextTokens);
  const isOnItsWay =
    check.asksForCompaction &&
    !('create' in head) &&
    (await requestForOverflow(dependencies, conversationId, head));
  throw new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
    message: `message of ~${requestTokens} tokens refused in ${conversationId}: ${remainingTokens} of ${check.windowTokens} left`,
    publicMessage: isOnItsWay
      ? `The message (about ${requestTokens} tokens) does not fit the ${remainingTokens} tokens that are left. The conversation is being compacted: send it again in a moment, or shorten it.`
      : `The message (about ${requestTokens} tokens) does not fit the ${remainingTokens} tokens that are left of the model's window of ${check.windowTokens}. Shorten it, or begin a new conversation.`,
    metadata: {
      estimatedRequestTokenCount: String(requestTokens),
      remainingTokenCount: String(remainingTokens),
    },
  });
}
