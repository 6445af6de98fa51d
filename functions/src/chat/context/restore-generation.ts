import { generationErased, generationNotFound } from '../not-found.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { OwnConversation, ConversationTarget } from '../conversations/own-conversation.ts';
import { continueHistory, readPresent } from '#functions/context/continue-history.ts';
import { createRenderer } from '#functions/context/snapshot-rendering.ts';
import { publishCompactionEvent, publishRequest } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { outcomeMessage } from '#shared/wire/outcome-message.ts';
import {
  changesSince,
  readHistories,
  type ChangesSince,
} from '#shared/conversation/context/find-history.ts';
import {
  decideRestore,
  type RestoreDecision,
  type RestoreFacts,
} from '#shared/conversation/writes/next-generation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import { withoutTurns } from '#shared/conversation/writes/erased-history.ts';
import {
  attemptView,
  historyView,
  type CompactionRecordView,
} from '#shared/wire/resources/compaction.ts';
import { refuseMismatch } from '../conversations/etag.ts';
import { changeGeneration, type Decision, requestAfterChange } from './change-generation.ts';

const requestIdReused = ({ restoredFrom = 0 }: Pick<History, 'restoredFrom'>) =>
  new AppError({
    reason: 'IDEMPOTENCY_KEY_REUSED',
    publicMessage: `This requestId has restored generation ${restoredFrom}. Draw a new one to restore another generation.`,
    metadata: { restoredFrom: String(restoredFrom) },
  });

/** A repeated request is looked for among this many of the newest generations. */
const GENERATIONS_SEARCHED = 20;

interface RestoreRequest extends ConversationTarget {
  /** 0: none, every turn stands verbatim again. */
  generation: number;
  /** The same id again is the same restore. */
  requestId?: string | undefined;
  locale: string | undefined;
  /** The header; see `refuseMismatch`. */
  ifMatch?: string | undefined;
}

interface Restored {
  view: CompactionRecordView;
  /** To be told to the workers. */
  compactionRequestId?: string;
}

/** An earlier history without what it says of turns that were replaced or erased since, if it can be mended. */
function asOfNow(
  { config }: ChatDependencies,
  input: { conversation: Conversation },
  { source, changes }: { source: History; changes: ChangesSince },
): History {
  if (source.isUnreadable) return source;
  const gone = { seqs: changes.erasedSeqs, fromSeq: changes.replacedFromSeq };
  const mended = withoutTurns(source, gone, createRenderer(config, input.conversation));
  return mended.erased === true ? source : mended;
}

/** What a restore is decided on: two reads, and one more page for every 20 generations gone back. */
async function readFacts(
  dependencies: ChatDependencies,
  target: { conversationId: string; conversation: Conversation },
  { generation, requestId }: RestoreRequest,
): Promise<RestoreFacts> {
  const present = target.conversation.generation;
  const length = Math.min(GENERATIONS_SEARCHED, present);
  const searched = Array.from({ length }, (_, i) => present - i);
  const newest = await readHistories(dependencies, target, searched);
  const facts = { generation, requestId, present, newest };
  if (generation === 0 || generation > present)
    return { ...facts, source: undefined, changedFromSeq: undefined };
  const [source] = await readHistories(dependencies, target, [generation]);
  const changes = await changesSince(dependencies, target, generation);
  return {
    ...facts,
    source: source && asOfNow(dependencies, target, { source, changes }),
    changedFromSeq: changes.replacedFromSeq,
  };
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

const viewOf = (history: History, { locale }: RestoreRequest) =>
  historyView(history, (record) => outcomeMessage(record, locale));

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

/** The generation that goes on from an earlier one. */
async function restore(
  dependencies: ChatDependencies,
  target: {
    conversationId: string;
    conversation: Conversation;
    by: string;
    request: RestoreRequest;
  },
  { source }: Extract<RestoreDecision, { kind: 'restore' }>,
): Promise<Decision<Restored>> {
  const { by, request } = target;
  const next = await continueHistory(dependencies, target, {
    source,
    present: await readPresent(dependencies, target),
    state: 'RESTORED',
    requestId: request.requestId ?? by,
    by,
    restoredFrom: request.generation,
  });
  const { history, turns, tokens } = next;
  // What waits was asked for by the context before.
  const conversationAfter: Conversation = { ...next.conversationAfter, compactionRequests: {} };
  const compactionRequest = requestAfterChange(dependencies, {
    conversation: conversationAfter,
    history,
    tokens,
  });
  const compactionRequests = compactionRequest ? { auto: { ...compactionRequest } } : {};
  return {
    history,
    turns,
    conversationAfter: { ...conversationAfter, compactionRequests },
    fields: { compactionRequests },
    record: recordOf(history),
    result: {
      view: viewOf(history, request),
      ...(compactionRequest && { compactionRequestId: compactionRequest.requestId }),
    },
  };
}

async function changeOf(
  dependencies: ChatDependencies,
  { own, by, request }: { own: OwnConversation; by: string; request: RestoreRequest },
): Promise<Decision<Restored>> {
  const { conversationId } = own;
  const conversation = own.conversation.value;
  const target = { conversationId, conversation, by, request };
  const { generation } = request;
  const decision = decideRestore(await readFacts(dependencies, target, request));
  // A repeated request met the state that it asked for, and changed it.
  if (decision.kind !== 'done') refuseMismatch(dependencies, request.ifMatch, own.conversation);
  switch (decision.kind) {
    case 'done': {
      // The first try may have died before it told the workers.
      const compactionRequestId = conversation.compactionRequests.auto?.requestId;
      const view = viewOf(decision.history, request);
      return {
        result: { view, ...(compactionRequestId !== undefined && { compactionRequestId }) },
      };
    }
    case 'reused':
      throw requestIdReused(decision.history);
    case 'nothing': {
      const { tokens } = await readPresent(dependencies, target);
      return { result: { view: nothingToRestore(tokens, dependencies.clock.now(), request) } };
    }
    case 'notFound':
      throw generationNotFound(generation);
    case 'erased':
      throw generationErased(generation);
    case 'unreadable':
      throw new AppError({
        reason: 'SNAPSHOT_UNREADABLE',
        publicMessage: `The summary of generation ${generation} is damaged and is not used. Choose another generation, or 0 for none.`,
        metadata: { generation: String(generation) },
      });
    case 'outdated':
      throw new AppError({
        reason: 'GENERATION_OUTDATED',
        publicMessage: `Generation ${generation} tells of messages that were edited since. Restore another generation, or 0 for none.`,
        metadata: { generation: String(generation) },
      });
    case 'restore':
      return restore(dependencies, target, decision);
  }
}

/** Tells that an earlier generation is in use again; a request that changed nothing is not told. */
async function publishRestored(
  dependencies: ChatDependencies,
  conversationId: string,
  view: CompactionRecordView,
): Promise<void> {
  if (view.state !== 'RESTORED') return;
  const { jobId: requestId, generation, restoredFrom, beforeTokens, afterTokens } = view;
  const figures = {
    conversationId,
    requestId,
    generation,
    restoredFrom,
    beforeTokens,
    afterTokens,
  };
  dependencies.logger.log('INFO', 'compaction_restored', figures);
  await publishCompactionEvent(dependencies, { type: 'restored', ...figures });
}

/**
 * Goes back, or forth, to an earlier generation, in one batch; later turns stand verbatim behind it. A
 * compaction that waits or runs is dropped. Afterwards automatic compaction needs new tokens, unless what
 * is restored is over the hard threshold: then it is asked for at once. The present generation, and a
 * request that was done before, change nothing.
 * Throws NOT_FOUND, IDEMPOTENCY_KEY_REUSED, GENERATION_NOT_FOUND, GENERATION_ERASED, GENERATION_OUTDATED, SNAPSHOT_UNREADABLE,
 * ETAG_MISMATCH, GENERATION_MISMATCH (412).
 */
export async function restoreGeneration(
  dependencies: ChatDependencies,
  request: RestoreRequest,
): Promise<CompactionRecordView> {
  const { conversationId } = request;
  const { view, compactionRequestId } = await changeGeneration<Restored>(
    dependencies,
    request,
    (own, by) => changeOf(dependencies, { own, by, request }),
  );
  await passCrashPoint(dependencies, 'generation-restored');
  await publishRestored(dependencies, conversationId, view);
  if (compactionRequestId !== undefined)
    await publishRequest(dependencies, { conversationId, requestId: compactionRequestId });
  return view;
}
