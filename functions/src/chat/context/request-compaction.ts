import { conversationPolicy, spendAllowance } from '#functions/config/conversation-policy.ts';
import { readPresent } from '#functions/context/continue-history.ts';
import { publishOverdue, publishRequest } from '#functions/events/publish-request.ts';
import { reachedSpendLimit } from '#shared/compaction/brake.ts';
import { learnShift } from '#shared/compaction/policy.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isHeld, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import { AppError } from '#shared/errors.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { changeConversation } from '../conversations/change-conversation.ts';
import { refuseMismatch } from '../conversations/etag.ts';
import { viewContext } from './view-context.ts';

const alreadyRunning = (conversationId: string, jobId: string) =>
  new AppError({
    status: 'ABORTED',
    reason: 'COMPACTION_RUNNING',
    message: `a compaction of ${conversationId} is queued or running`,
    publicMessage:
      'A compaction of this conversation is queued or running. Wait for it; its state is in the context object.',
    metadata: { jobId },
  });

const limitReached = (conversationId: string, limit: string, retryAfterMs: number) =>
  new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason: 'COMPACTION_LIMIT',
    message: `${conversationId} has reached ${limit} of compactions`,
    publicMessage:
      'This conversation was compacted as often as it may be for now. Try again after the time given; the chat goes on meanwhile.',
    retryable: true,
    retryAfterMs,
    metadata: { limit },
  });

const holderOf = (job: CompactionJob | undefined, now: Date) =>
  isHeld(job, now) ? job?.requestId : undefined;

/** State of the job that this very request became before, or undefined for a new request. */
function knownState(
  requestId: string,
  {
    conversation,
    job,
    now,
  }: { conversation: Conversation; job: CompactionJob | undefined; now: Date },
): string | undefined {
  if (holderOf(job, now) === requestId) return 'RUNNING';
  if (conversation.compactionRequests.manual?.requestId === requestId) return 'QUEUED';
  return job?.records.findLast((record) => record.requestId === requestId)?.state;
}

/** Tells the owner's other devices that a compaction is on its way. */
async function queuedStatus(
  dependencies: ChatDependencies,
  conversationId: string,
  queued: {
    conversation: Conversation;
    job: CompactionJob | undefined;
    manual: NonNullable<Conversation['compactionRequests']['manual']>;
  },
): Promise<Write> {
  const { manual, job } = queued;
  const present = await readPresent(dependencies, {
    conversationId,
    conversation: queued.conversation,
  });
  const conversation = {
    ...queued.conversation,
    compactionRequests: { ...queued.conversation.compactionRequests, manual },
  };
  const status = viewContext(dependencies, { ...present, conversation, job, locale: undefined });
  return statusWrite(dependencies.store, conversationId, { ...status });
}

/** What a compaction by hand teaches of the conversation's threshold, where the deployment learns. */
function learnedFields(
  { config }: ChatDependencies,
  conversation: Conversation,
): { thresholdShift?: number } {
  const { softThresholdTokens, thresholdShift } = conversationPolicy(config, conversation);
  if (!config.remotePolicy?.learnsThreshold() || softThresholdTokens === null) return {};
  const { tokens, overheadTokens } = conversation.context;
  const size = {
    tokens: tokens - overheadTokens,
    thresholdTokens: softThresholdTokens / (1 + thresholdShift),
  };
  return { thresholdShift: learnShift(conversation.thresholdShift, size) };
}

interface CompactionJobView {
  jobId: string;
  state: string;
}

/**
 * The manual trigger: notes the request in the conversation document, then tells the workers. The same `requestId` again
 * is the same job. An automatic request that still waits does not stand in the way; a manual one that waits and any
 * compaction that runs do: COMPACTION_RUNNING (409). Throws NOT_FOUND, COMPACTION_LIMIT, USER_DAILY_USD and
 * GLOBAL_BUDGET (429), ETAG_MISMATCH, GENERATION_MISMATCH (412).
 */
export async function requestCompaction(
  dependencies: ChatDependencies,
  request: {
    caller: Caller;
    conversationId: string;
    focus?: string | undefined;
    requestId?: string | undefined;
    /** The header; see `refuseMismatch`. */
    ifMatch?: string | undefined;
  },
): Promise<CompactionJobView> {
  const { conversationId, focus } = request;
  const requestId = request.requestId ?? dependencies.randomness.uuid();
  const view = await changeConversation<CompactionJobView>(
    dependencies,
    request,
    async ({ conversation, job }) => {
      const now = dependencies.clock.now();
      const known = knownState(requestId, { conversation: conversation.value, job, now });
      if (known !== undefined) return { result: { jobId: requestId, state: known } };
      refuseMismatch(dependencies, request.ifMatch, { conversationId, conversation });
      const other = holderOf(job, now) ?? conversation.value.compactionRequests.manual?.requestId;
      if (other !== undefined) {
        await publishOverdue(dependencies, conversationId, conversation.value.compactionRequests);
        throw alreadyRunning(conversationId, other);
      }
      const allowance = spendAllowance(dependencies.config);
      const reached = reachedSpendLimit(job?.brake.spent, allowance, now);
      if (reached)
        throw limitReached(conversationId, reached.limit, reached.until.getTime() - now.getTime());
      await dependencies.quota.refuseSpent(request.caller);
      const manual = { requestId, focus, since: now };
      return {
        fields: {
          'compactionRequests.manual': manual,
          ...learnedFields(dependencies, conversation.value),
        },
        writes: [
          await queuedStatus(dependencies, conversationId, {
            conversation: conversation.value,
            job,
            manual,
          }),
        ],
        result: { jobId: requestId, state: 'QUEUED' },
      };
    },
  );
  // Also for a request that was known: the first try may have died before it told anybody.
  if (view.state === 'QUEUED')
    await publishRequest(dependencies, { conversationId, requestId, trigger: 'manual' });
  return view;
}
