import {
  conversationPolicy,
  readAgainTokens,
  selectStrategyName,
  selectSummariser,
  spendAllowance,
} from '#functions/config/conversation-policy.ts';
import { readPresent } from '#functions/context/continue-history.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import { publishOverdue, publishRequest } from '#functions/events/publish-request.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { reachedSpendLimit } from '#shared/compaction/brake.ts';
import { stateOfNoFold, planFold } from '#shared/compaction/plan.ts';
import { learnShift } from '#shared/compaction/policy.ts';
import {
  decideCancel,
  type CancelDecision,
  CANCELLED_BY_USER,
  requestsWithoutOutcome,
} from '#shared/compaction/request-decisions.ts';
import { readFoldSource } from '#shared/conversation/context/find-history.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isHeld, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  dropRequestWrites,
  jobAfterDrop,
  type DroppedRequest,
} from '#shared/compaction/drop-request-writes.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Write } from '#shared/ports/ports.ts';
import type { CompactionPreview } from '#shared/wire/resources/compaction.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { refuseMismatch } from '../conversations/etag.ts';
import {
  changeConversation,
  readOwnConversation,
  type OwnConversation,
  type ConversationTarget,
} from '../conversations/own-conversation.ts';
import { toContextObject, readContext, contextStatusWrite } from './view-context.ts';

/**
 * What a manual compaction would fold now, by the worker's own plan. Calls no model and writes nothing;
 * what the summary would save is not known before it is made. Throws NOT_FOUND.
 */
export async function previewCompaction(
  dependencies: ChatDependencies,
  target: ConversationTarget,
): Promise<CompactionPreview> {
  const { config } = dependencies;
  const context = await readContext(dependencies, target);
  const conversation = context.conversation.value;
  const policy = conversationPolicy(config, conversation);
  const beforeTokens = toContextObject(dependencies, context, undefined).tokens;
  const { conversationId } = target;
  const forms = selectOutputForms(dependencies, conversation);
  const room = { readAgainTokens: readAgainTokens(config, conversation), forms };
  const source = await readFoldSource(dependencies, { conversationId, conversation }, room);
  const plan = planFold({
    context: { ...conversation, ...(source ?? context) },
    policy,
    trigger: 'manual',
    calibration: conversation.context.calibration,
    summariserWindowTokens: selectSummariser(config, { ...policy, model: conversation.model })
      .windowTokens,
    strategy: selectStrategyName(config, conversation),
    forms,
  });
  if (plan.kind === 'noop') {
    const { reason } = plan;
    return { dryRun: true, state: stateOfNoFold(plan), reason, beforeTokens, turnsFolded: 0 };
  }
  const { from, coveredThrough, folded } = plan;
  const turnsFolded = folded.length;
  const range = { from, upTo: coveredThrough.seq };
  return { dryRun: true, state: 'WOULD_COMPACT', beforeTokens, turnsFolded, ...range };
}

const alreadyRunning = (jobId: string) =>
  new AppError({
    reason: 'COMPACTION_RUNNING',
    publicMessage:
      'A compaction of this conversation is queued or running. Wait for it; its state is in the context object.',
    metadata: { jobId },
  });

const limitReached = (limit: string, retryAfterMs: number) =>
  new AppError({
    reason: 'COMPACTION_LIMIT',
    publicMessage:
      'This conversation was compacted as often as it may be for now. Try again after the time given; the chat goes on meanwhile.',
    retryAfterMs,
    metadata: { limit },
  });

const holderOf = (job: CompactionJob | undefined, now: Date) =>
  isHeld(job, now) ? job?.requestId : undefined;

const waitingManual = (conversation: Conversation, job: CompactionJob | undefined) =>
  requestsWithoutOutcome(conversation, job).find(({ kind }) => kind === 'manual');

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
  if (waitingManual(conversation, job)?.requestId === requestId) return 'QUEUED';
  return job?.records.findLast((record) => record.requestId === requestId)?.state;
}

/** Tells the owner's other devices that a compaction is on its way. */
async function queuedStatus(
  dependencies: ChatDependencies,
  { conversationId, conversation: { value }, job }: OwnConversation,
  manual: NonNullable<Conversation['compactionRequests']['manual']>,
): Promise<Write> {
  const present = await readPresent(dependencies, { conversationId, conversation: value });
  const compactionRequests = { ...value.compactionRequests, manual };
  const conversation = { ...value, compactionRequests };
  return contextStatusWrite(dependencies, conversationId, { ...present, conversation, job });
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
  request: ConversationTarget & {
    focus?: string | undefined;
    requestId?: string | undefined;
    /** The header; see `refuseMismatch`. */
    ifMatch?: string | undefined;
  },
): Promise<CompactionJobView> {
  const { conversationId, focus } = request;
  const requestId = request.requestId ?? dependencies.randomness.uuid();
  const view = await changeConversation<CompactionJobView>(dependencies, request, async (own) => {
    const { conversation, job } = own;
    const now = dependencies.clock.now();
    const known = knownState(requestId, { conversation: conversation.value, job, now });
    if (known !== undefined) return { result: { jobId: requestId, state: known } };
    refuseMismatch(dependencies, request.ifMatch, conversation);
    const other = holderOf(job, now) ?? waitingManual(conversation.value, job)?.requestId;
    if (other !== undefined) {
      await publishOverdue(dependencies, conversationId, conversation.value.compactionRequests);
      throw alreadyRunning(other);
    }
    const allowance = spendAllowance(dependencies.config);
    const reached = reachedSpendLimit(job?.brake.spent, allowance, now);
    if (reached) throw limitReached(reached.limit, reached.until.getTime() - now.getTime());
    await dependencies.quota.refuseSpent(request.caller);
    const manual = { requestId, focus, since: now };
    return {
      fields: {
        'compactionRequests.manual': manual,
        ...learnedFields(dependencies, conversation.value),
      },
      writes: [await queuedStatus(dependencies, own, manual)],
      result: { jobId: requestId, state: 'QUEUED' },
    };
  });
  // Also for a request that was known: the first try may have died before it told anybody.
  if (view.state === 'QUEUED')
    await publishRequest(dependencies, { conversationId, requestId, trigger: 'manual' });
  return view;
}

type CancelDependencies = Pick<
  ChatDependencies,
  'store' | 'cache' | 'logger' | 'clock' | 'config' | 'sha256'
>;

/** The batch that calls a queued compaction off, with what the owner's devices see then. */
async function dropWrites(
  dependencies: CancelDependencies,
  own: OwnConversation,
  { request }: Extract<CancelDecision, { kind: 'queued' }>,
): Promise<Write[]> {
  const { conversationId, conversation, job, jobUpdateTime } = own;
  const present = await readPresent(dependencies, {
    conversationId,
    conversation: conversation.value,
  });
  const { tokens } = present;
  const { generation } = conversation.value;
  const dropped: DroppedRequest = {
    conversationId,
    conversation,
    job: job && jobUpdateTime !== undefined ? { value: job, updateTime: jobUpdateTime } : 'missing',
    request,
    state: 'ABORTED',
    reason: CANCELLED_BY_USER,
    tokens,
    now: dependencies.clock.now(),
  };
  const { [request.kind]: _, ...compactionRequests } = conversation.value.compactionRequests;
  const view = {
    ...present,
    conversation: { ...conversation.value, compactionRequests },
    job: jobAfterDrop(dropped),
  };
  // A person's own request says nothing of what the threshold asks for.
  const fields =
    request.kind === 'auto' ? { 'compactionRequests.declined': { tokens, generation } } : {};
  return [
    ...dropRequestWrites(dropped, { fields, frees: true }),
    await contextStatusWrite(dependencies, conversationId, view),
  ];
}

interface CancelledCompaction extends CompactionJobView {
  cancelRequested?: true;
}

/** What to write, and what to answer once it is written. */
interface Cancellation {
  writes: Write[];
  result: CancelledCompaction;
}

async function cancellationOf(
  dependencies: CancelDependencies,
  own: OwnConversation,
  jobId: string,
): Promise<Cancellation> {
  const { conversationId, conversation, job } = own;
  const now = dependencies.clock.now();
  const decision = decideCancel({ conversation: conversation.value, job, jobId, now });
  switch (decision.kind) {
    case 'unknown':
      throw new AppError({
        reason: 'COMPACTION_NOT_FOUND',
        publicMessage:
          'The conversation has no such compaction, or it ended long ago. Look at the list of compactions.',
        metadata: { jobId },
      });
    case 'ended':
      return { writes: [], result: { jobId, state: decision.state } };
    case 'queued':
      return {
        writes: await dropWrites(dependencies, own, decision),
        result: { jobId, state: 'ABORTED' },
      };
    case 'running': {
      const cancellation: Write = {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { 'compactionRequests.cancel': jobId },
        guard: { updateTime: conversation.updateTime },
      };
      return {
        writes: decision.isTold ? [] : [cancellation],
        result: { jobId, state: 'RUNNING', cancelRequested: true },
      };
    }
  }
}

/**
 * Calls a compaction off. One that waits is dropped at once; one that runs is stopped by its worker within
 * about two seconds and ends as ABORTED, CANCELLED_BY_USER, unless it is being swapped in at this moment.
 * Nothing of the conversation changes. An automatic one comes back when the context has grown by what
 * re-arms it, or overflows. One that has ended is told as it ended.
 * Throws NOT_FOUND, COMPACTION_NOT_FOUND, GuardLostError when others won every try.
 */
export async function cancelCompaction(
  dependencies: CancelDependencies,
  target: ConversationTarget & { jobId: string },
): Promise<CancelledCompaction> {
  return retryWhenLost(dependencies.clock, async () => {
    const own = await readOwnConversation(dependencies, target);
    const { writes, result } = await cancellationOf(dependencies, own, target.jobId);
    if (writes.length > 0) await dependencies.store.commit(writes);
    return result;
  });
}
