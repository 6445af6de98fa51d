import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/output-forms.ts';
import { requestForContext } from '#shared/compaction/trigger.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import {
  readContextParts,
  readConversation,
} from '#shared/conversation/context/read-conversation.ts';
import type { CompactionRequests } from '#shared/conversation/documents/conversation.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { finishedTurn } from './after-finish.ts';

/** What a finished turn asks for, and the state of the conversation document that this holds for. */
export interface RequestAtEnd {
  compactionRequest: CompactionRequests['auto'];
  /** Only when the turn relies on a request that waits: it must still wait when the finish is committed. */
  conversationUpdateTime?: string | undefined;
}

/** Others stand behind the turn: it was answered, in its place, after them. */
const isInItsPlace = ({ context }: BegunTurn, { seq }: FinishBatch) =>
  seq < context.conversation.lastSeq;

/** What such a turn asks for if the whole context crosses with it. */
const requestInPlace = (
  { randomness }: Pick<ChatDependencies, 'randomness'>,
  begun: BegunTurn,
  batch: FinishBatch,
): FinishBatch['compactionRequest'] =>
  batch.meter && isInItsPlace(begun, batch)
    ? { requestId: randomness.uuid(), since: batch.now, trigger: 'auto' }
    : undefined;

/**
 * What becomes of a crossing that was measured with the conversation document of the start
 * (`batch.compactionRequest`), at the end of the turn. A request that waits is enough: who settles it without a reason
 * looks again. After a swap in between the context is measured anew, with this turn; and so is that of a turn which
 * others stand behind, whose prompt had none of them. One read, and only by turns that crossed or were answered in their
 * place.
 */
export async function requestAtEnd(
  dependencies: Pick<
    ChatDependencies,
    'store' | 'cache' | 'logger' | 'config' | 'sha256' | 'randomness'
  >,
  begun: BegunTurn,
  batch: FinishBatch,
): Promise<RequestAtEnd> {
  const compactionRequest = batch.compactionRequest ?? requestInPlace(dependencies, begun, batch);
  if (!compactionRequest) return { compactionRequest: undefined };
  try {
    return await measureAgain(dependencies, begun, { ...batch, compactionRequest });
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // Unknown: a request too many ends as NOOP, one too few would be missed, and the answer must be stored.
    return { compactionRequest: batch.compactionRequest };
  }
}

async function measureAgain(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'logger' | 'config' | 'sha256'>,
  begun: BegunTurn,
  batch: FinishBatch & { compactionRequest: NonNullable<FinishBatch['compactionRequest']> },
): Promise<RequestAtEnd> {
  const { conversationId, seq, compactionRequest } = batch;
  const conversation = await readConversation(dependencies.store, conversationId);
  if (!conversation) return { compactionRequest };
  const { compactionRequests, generation } = conversation.value;
  const { auto } = compactionRequests;
  // A search goes before a compaction, whose summary the same filter might block. Behind it the threshold is looked at again.
  if (auto && (auto.trigger === 'blocked' || compactionRequest.trigger !== 'blocked'))
    return { compactionRequest: undefined, conversationUpdateTime: conversation.updateTime };
  if (compactionRequest.trigger === 'blocked') return { compactionRequest };
  const inItsPlace = isInItsPlace(begun, batch);
  if (generation === begun.context.conversation.generation && !inItsPlace)
    return { compactionRequest };
  const toSeq = inItsPlace ? conversation.value.lastSeq : seq - 1;
  const parts = await readContextParts(dependencies, {
    conversationId,
    conversation: conversation.value,
    toSeq,
  });
  const turns = [...parts.turns, finishedTurn({ begun, messageId: '' }, batch)];
  const forms = selectOutputForms(dependencies, conversation.value);
  // The meter as this batch leaves it: it says that the others have come behind this turn.
  const context = (inItsPlace && batch.meter) || conversation.value.context;
  const measured = {
    conversation: { ...conversation.value, context },
    history: parts.history,
    turns,
  };
  const { tokens } = contextTokens(measured, forms);
  return {
    compactionRequest: requestForContext({
      conversation: conversation.value,
      history: parts.history,
      tokens,
      policy: conversationPolicy(dependencies.config, conversation.value),
      requestId: compactionRequest.requestId,
      now: compactionRequest.since,
    }),
  };
}
