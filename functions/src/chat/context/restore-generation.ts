import { outcomeMessage } from '../../../../shared/compaction/outcome-message.ts';
import type { Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import type { CompactionRecord } from '../../../../shared/conversation/job.ts';
import { AppError } from '../../../../shared/errors.ts';
import type { Caller } from '../../../../shared/ports.ts';
import type { CompactionRecordView } from '../../../../shared/wire/responses.ts';
import { attemptView, historyView } from '../../../../shared/wire/views.ts';
import { policyOf } from '../../conversation-policy.ts';
import { changeGeneration, type Decision } from './change-generation.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { continueHistory, readPresent, type Continuation } from './continue-history.ts';
import { firstChangeSince } from './find-history.ts';
import { passLifecyclePoint } from '../lifecycle-crash-points.ts';
import { generationNotFound, readHistories } from './list-compactions.ts';
import type { OwnConversation } from '../conversation/own-conversation.ts';
import { publishRequest } from '../answer/publish-request.ts';

/** A repeated request is looked for among this many of the newest generations. */
const GENERATIONS_SEARCHED = 20;

const generationErased = (conversationId: string, generation: number) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'GENERATION_ERASED',
    message: `generation ${generation} of ${conversationId} covered a turn that was erased`,
    publicMessage: `Generation ${generation} told of a message that was deleted, and was erased with it. Restore another generation, or 0 for none.`,
    metadata: { generation: String(generation) },
  });

const generationOutdated = (conversationId: string, generation: number) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'GENERATION_OUTDATED',
    message: `generation ${generation} of ${conversationId} covers turns that changed since`,
    publicMessage: `Generation ${generation} tells of messages that were edited since. Restore another generation, or 0 for none.`,
    metadata: { generation: String(generation) },
  });

export interface RestoreRequest {
  caller: Caller;
  conversationId: string;
  /** 0: none, every turn stands verbatim again. */
  generation: number;
  /** The same id again is the same restore. */
  requestId?: string | undefined;
  locale: string | undefined;
}

interface Restored {
  view: CompactionRecordView;
  /** To be told to the workers. */
  needed?: string;
}

/** The history to go on with and the first turn whose shortened outputs it must not bring back. */
interface Restorable {
  source: History | undefined;
  changedFromSeq: number | undefined;
}

async function findRestorable(
  dependencies: ChatDependencies,
  own: OwnConversation,
  generation: number,
): Promise<Restorable> {
  if (generation === 0) return { source: undefined, changedFromSeq: undefined };
  const { conversationId } = own;
  const of = { conversationId, head: own.head.value };
  const [source] = await readHistories(dependencies, of, [generation]);
  if (!source) throw generationNotFound(conversationId, generation);
  if (source.erased === true) throw generationErased(conversationId, generation);
  const changedFromSeq = await firstChangeSince(dependencies, of, generation);
  if (changedFromSeq !== undefined && source.coveredThrough.seq >= changedFromSeq)
    throw generationOutdated(conversationId, generation);
  return { source, changedFromSeq };
}

/** The restore that this request, or an equal one, has done before. */
async function findDone(
  dependencies: ChatDependencies,
  own: OwnConversation,
  { requestId, generation }: RestoreRequest,
): Promise<History | undefined> {
  const head = own.head.value;
  const newest = head.generation;
  const length = Math.min(GENERATIONS_SEARCHED, newest);
  const histories = await readHistories(
    dependencies,
    { conversationId: own.conversationId, head },
    Array.from({ length }, (_, i) => newest - i),
  );
  const isThis = (history: History) => history.state === 'RESTORED';
  return (
    histories.find((history) => isThis(history) && history.requestId === requestId) ??
    histories.find(
      (history) =>
        history.generation === newest &&
        (newest === generation || (isThis(history) && history.restoredFrom === generation)),
    )
  );
}

/** Asked for at once only where the next answer would have to do without part of the context. */
function needOf(
  { config, clock }: ChatDependencies,
  { headAfter, tokens }: Continuation,
  requestId: string,
): Head['compactionNeeded'] {
  const { hardThresholdTokens, softThresholdTokens } = policyOf(config, headAfter);
  const isAutomatic = (headAfter.settings.compaction ?? 'auto') === 'auto';
  const contentTokens = tokens - headAfter.context.overheadTokens;
  if (!isAutomatic || softThresholdTokens === null || contentTokens < hardThresholdTokens)
    return {};
  // An ordinary need is served only when tokens came since; this one cannot wait for them.
  return { auto: { requestId, since: clock.now(), trigger: 'overflow' } };
}

const recordOf = (history: History): CompactionRecord => ({
  requestId: history.requestId,
  state: history.state,
  trigger: history.trigger,
  requestedAt: history.requestedAt,
  finishedAt: history.createTime,
  beforeTokens: history.beforeTokens,
  afterTokens: history.afterTokens,
  generation: history.generation,
  turnsFolded: 0,
  modelCalls: 0,
  durationMs: 0,
});

/** What is answered when nothing was ever folded and nothing is to be. */
function nothingToRestore(
  tokens: number,
  now: Date,
  request: RestoreRequest,
): CompactionRecordView {
  const record: CompactionRecord = {
    requestId: request.requestId ?? '',
    state: 'NOOP',
    trigger: 'manual',
    requestedAt: now,
    finishedAt: now,
    beforeTokens: tokens,
    afterTokens: tokens,
    generation: 0,
    turnsFolded: 0,
    modelCalls: 0,
    durationMs: 0,
    reason: 'ALREADY_PRESENT',
  };
  return attemptView(record, (shown) => outcomeMessage(shown, request.locale));
}

async function decideRestore(
  dependencies: ChatDependencies,
  { own, by, request }: { own: OwnConversation; by: string; request: RestoreRequest },
): Promise<Decision<Restored>> {
  const { generation, locale } = request;
  const head = own.head.value;
  const view = (history: History) =>
    historyView(history, (record) => outcomeMessage(record, locale));
  const done = await findDone(dependencies, own, request);
  if (done) {
    // The first try may have died before it told the workers.
    const needed = head.compactionNeeded.auto?.requestId;
    return { result: { view: view(done), ...(needed !== undefined && { needed }) } };
  }
  if (generation > head.generation) throw generationNotFound(own.conversationId, generation);
  const present = await readPresent(dependencies, own);
  if (head.generation === 0)
    return {
      result: { view: nothingToRestore(present.tokens, dependencies.clock.now(), request) },
    };
  const { source, changedFromSeq = Infinity } = await findRestorable(dependencies, own, generation);
  const next = await continueHistory(dependencies, own, {
    source,
    present,
    state: 'RESTORED',
    changedSeqs: (source?.masks ?? []).map(({ seq }) => seq).filter((seq) => seq >= changedFromSeq),
    requestId: request.requestId ?? by,
    by,
    restoredFrom: generation,
    afterTokens: (tokens) => tokens,
  });
  const compactionNeeded = needOf(dependencies, next, dependencies.randomness.uuid());
  const needed = compactionNeeded.auto?.requestId;
  return {
    ...next,
    headAfter: { ...next.headAfter, compactionNeeded },
    fields: { compactionNeeded: { ...compactionNeeded } },
    record: recordOf(next.history),
    result: { view: view(next.history), ...(needed !== undefined && { needed }) },
  };
}

/**
 * Goes back, or forth, to an earlier generation, in one batch; later turns stand verbatim behind it. A
 * compaction that waits or runs is dropped. Afterwards automatic compaction needs new tokens, unless what
 * is restored is over the hard threshold: then it is asked for at once. The present generation, and a
 * request that was done before, change nothing.
 * Throws NOT_FOUND, GENERATION_NOT_FOUND, GENERATION_ERASED, GENERATION_OUTDATED.
 */
export async function restoreGeneration(
  dependencies: ChatDependencies,
  request: RestoreRequest,
): Promise<CompactionRecordView> {
  const { conversationId } = request;
  const { view, needed } = await changeGeneration<Restored>(dependencies, request, (own, by) =>
    decideRestore(dependencies, { own, by, request }),
  );
  await passLifecyclePoint(dependencies, 'generation-restored');
  if (needed !== undefined)
    await publishRequest(dependencies, { conversationId, requestId: needed });
  return view;
}
