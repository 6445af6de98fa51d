import type { Config } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { acceptsAutomaticRequest, requestForContext } from '#shared/compaction/trigger.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import {
  type HistorySource,
  readContextParts,
} from '#shared/conversation/context/read-conversation.ts';
import type {
  CompactionRequests,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import {
  type ClosingTurn,
  closedTurn,
  staysInContext,
} from '#shared/conversation/writes/abandoned-turns.ts';
import type { Clock, Randomness } from '#shared/ports/ports.ts';
import { type Viewing, selectOutputForms } from './next-call.ts';

interface Closing extends HistorySource, Viewing {
  config: Config;
  clock: Clock;
  randomness: Randomness;
}

/**
 * The request for the context that an open turn comes into as it is closed by another than its producer, for the batch
 * that closes it under the conversation document's update time: until then it was not counted, so what was asked for
 * while it ran may have been settled as not due. Undefined: nothing to ask for, or asked for already. One read of the tail,
 * and only for a turn that stays in the context. Throws StoreUnavailableError.
 */
export async function requestAfterClosing(
  dependencies: Closing,
  target: { conversationId: string; conversation: Conversation; closing: ClosingTurn },
): Promise<CompactionRequests['auto']> {
  const { conversationId, conversation, closing } = target;
  if (conversation.state !== 'live' || !acceptsAutomaticRequest(conversation)) return undefined;
  if (!staysInContext(closing)) return undefined;
  const { history, turns, open } = await readContextParts(dependencies, {
    conversationId,
    conversation,
  });
  if (open?.seq !== closing.seq) return undefined;
  const after = { conversation, history, turns: [...turns, closedTurn(open, closing)] };
  return requestForContext({
    conversation,
    history,
    tokens: contextTokens(after, selectOutputForms(dependencies, conversation)).tokens,
    policy: conversationPolicy(dependencies.config, conversation),
    requestId: dependencies.randomness.uuid(),
    now: dependencies.clock.now(),
  });
}
