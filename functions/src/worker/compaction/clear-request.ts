import { publishRequest, publishToWorkers } from '#functions/events/publish-request.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { retry } from '#functions/lib/retry.ts';
import type { CompactionRequest } from '#shared/compaction/claim-decision.ts';
import { requestForContext } from '#shared/compaction/trigger.ts';
import type {
  CompactionRequests,
  Conversation,
  Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { GuardLostError } from '#shared/errors.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import { readContext, readConversationAndJob } from './draft/read-for-compaction.ts';

/**
 * Chat changes the conversation document often; a worker that loses this often in a row leaves the request, and the next
 * sweep publishes it again.
 */
const CLEAR_TRIES = 20;

interface ServedRequest {
  conversationId: string;
  request: Pick<CompactionRequest, 'kind' | 'requestId'>;
  /**
   * Whether the context may be over the threshold though the request was served: after a swap, and when there
   * was nothing to serve. Turns that ended meanwhile asked for nothing, because this request was waiting.
   */
  looksAgain: boolean;
  /** Size of a context that its owner does not want compacted, or of which a summary saves too little. */
  waitsFromTokens?: number;
  /** Last finished turn of the context that the outcome is about; later ones were not part of it. */
  measuredSeq?: number;
}

/** A request for what is over the threshold now, or undefined. A person's request was none of the threshold's. */
async function renewedRequest(
  dependencies: CompactionDependencies,
  { conversationId, request, looksAgain, measuredSeq, waitsFromTokens }: ServedRequest,
  conversation: Versioned<Conversation>,
): Promise<CompactionRequests['auto']> {
  const hasGrown = measuredSeq !== undefined && conversation.value.context.seq !== measuredSeq;
  if (request.kind === 'manual' || !(looksAgain || hasGrown)) return undefined;
  // What has grown meanwhile is the next turn's to measure: a wish that was just said must not be overrun.
  if (waitsFromTokens !== undefined) return undefined;
  const reading = await readContext(dependencies, conversationId, { conversation, job: undefined });
  return requestForContext({
    conversation: reading.conversation.value,
    history: reading.history,
    tokens: reading.tokens,
    policy: reading.policy,
    requestId: dependencies.randomness.uuid(),
    now: dependencies.clock.now(),
  });
}

/** Whether what the conversation document calls off is this request, or none that waits: its worker was done before. */
function isCancellationOver(
  { compactionRequests }: Conversation,
  request: ServedRequest['request'],
): boolean {
  const { cancel, manual, auto } = compactionRequests;
  const other = request.kind === 'manual' ? auto : manual;
  return cancel !== undefined && cancel !== other?.requestId;
}

/** What lets the next automatic compaction wait; a person's own request says nothing of it. */
const declinedFields = (
  { request, waitsFromTokens: tokens }: ServedRequest,
  { generation }: Conversation,
) =>
  tokens === undefined || request.kind === 'manual'
    ? {}
    : { 'compactionRequests.declined': { tokens, generation } };

interface LeftRequests {
  /** In place of the served one. */
  renewed?: CompactionRequests['auto'];
  /** Of the other kind. */
  waiting?: { requestId: string } | undefined;
}

/** Resolves to what the conversation document asks for then. Throws GuardLostError. */
async function clearOnce(
  dependencies: CompactionDependencies,
  served: ServedRequest,
): Promise<LeftRequests> {
  const { conversationId, request } = served;
  const { conversation } = await readConversationAndJob(dependencies, conversationId);
  if (conversation?.value.state !== 'live') return {};
  const waiting =
    conversation.value.compactionRequests[request.kind === 'auto' ? 'manual' : 'auto'];
  if (conversation.value.compactionRequests[request.kind]?.requestId !== request.requestId)
    return { waiting };
  const renewed = await renewedRequest(dependencies, served, conversation);
  await dependencies.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        settledRequest: request.requestId,
        ...(renewed && { 'compactionRequests.auto': { ...renewed } }),
        ...declinedFields(served, conversation.value),
      },
      remove: [
        ...(renewed ? [] : [`compactionRequests.${request.kind}`]),
        ...(isCancellationOver(conversation.value, request) ? ['compactionRequests.cancel'] : []),
      ],
      guard: { updateTime: conversation.updateTime },
    },
  ]);
  return { renewed, waiting };
}

/**
 * Publishes a person's request that came while a worker held the job for an automatic one, which is to be tried again.
 * Never throws but for the store.
 */
export async function publishManual(
  dependencies: CompactionDependencies,
  conversationId: string,
): Promise<void> {
  const { conversation } = await readConversationAndJob(dependencies, conversationId);
  const manual = conversation?.value.compactionRequests.manual;
  if (manual) await publishToWorkers(dependencies, { conversationId, requestId: manual.requestId });
}

/**
 * Takes the request that was served off the conversation document, under that document's update time. One that chat has
 * replaced meanwhile stays; where the context is over the threshold all the same it is renewed. What still
 * waits is published: whoever was told of it while the job was held left it to the holder. After a crash before or in
 * here the next delivery, or the sweep, finds the record and comes back.
 */
export async function clearRequest(
  dependencies: CompactionDependencies,
  served: ServedRequest,
): Promise<void> {
  const { conversationId } = served;
  let left: LeftRequests;
  try {
    left = await retry(() => clearOnce(dependencies, served), { mostTries: CLEAR_TRIES });
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
    dependencies.logger.log('WARNING', 'compaction_request_not_cleared', { conversationId });
    return;
  }
  const { renewed, waiting } = left;
  if (renewed) {
    await passWorkerCrashPoint(dependencies, 'request-renewed');
    const { requestId, trigger } = renewed;
    await publishRequest(dependencies, { conversationId, requestId, trigger });
  } else if (waiting)
    await publishToWorkers(dependencies, { conversationId, requestId: waiting.requestId });
}
