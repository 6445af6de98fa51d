import type { SentView } from '#shared/compaction/summariser/shrunken-view.ts';
import type { Head } from '#shared/conversation/documents/head.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { MemoryTexts } from '#shared/memory/render-memory.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Prompt, Write } from '#shared/ports/ports.ts';
import type { QuotaRequest, Reservation } from '#shared/ports/quota-ports.ts';
import type { ProgressAtStart } from '../store/turn-progress.ts';
import { beginWrites } from './begin-writes.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readBefore, firstReplaced, type Begin, type ContextBefore } from './context-before.ts';
import { commitStart } from './commit-start.ts';
import { firstHead } from './first-head.ts';
import type { Attempt } from '../store/turn-store.ts';
import type { PlannedReplacement } from './plan-replacement.ts';
import { nextAttempt, preparePrompt } from './prepare-prompt.ts';
import { keptRounds, progressAtStart } from './kept-rounds.ts';
import { leaseFrom } from '#functions/chat/turn-lease.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { storedMessage, storedRouting, type Message } from './stored-message.ts';
import {
  keepUploads,
  namedBy,
  namingWrites,
} from '#functions/chat/features/uploads/name-uploads.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import { startIndexLoad } from '#functions/chat/features/search/load-index.ts';
import type { Recalled } from '#functions/chat/features/search/recall-for-turn.ts';
import type { TurnContext } from './turn-context.ts';

/** A turn that this instance now owns, with all that its answer needs. */
export interface BegunTurn extends Message, TurnContext, SentView {
  attempt: Attempt;
  /** With the model of the turn. */
  head: Head;
  /** What the conversation has changed to meanwhile: answers the next turn, whose limits are those of this context. */
  nextModel: string;
  job: CompactionJob | undefined;
  history: History | undefined;
  /** Terminal turns of the tail before this one, without those that it replaces. */
  turns: readonly Turn[];
  /** Answers all calls of the turn; where the conversation is `auto`, it is chosen before the first one. */
  model: string;
  /** What was chosen for the turn before this attempt. */
  routing: Turn['routing'];
  prompt: Prompt;
  /** The same for another model: with the signatures that this one can read. */
  promptFor: (model: string) => Prompt;
  /** The message as its prompts say it: with what they say of the memory and of folded turns beside it. */
  sentUser: Content;
  createTime: Date;
  /** First of the turns that this one stands in for. */
  replaces: number | undefined;
  /** The compaction that a replacement asks for; published with the end of the turn. */
  replacementNeed: PlannedReplacement['need'];
  /** The memory as the prefix of the prompt shows it. */
  memory: MemoryTexts;
  /** What was brought back of the folded turns; it stands in `sentUser`. */
  recalled: Recalled;
  /** Uncalibrated estimates: of the message, of what was said beside it of the memory and of folded turns, of instruction and tools. */
  userTokens: number;
  saidTokens: number;
  overheadTokens: number;
  /** What the answer holds of its user's quota; undefined where nothing is limited. */
  reservation: Reservation | undefined;
  /** What further calls of this answer are reserved as. */
  quotaRequest: Omit<QuotaRequest, 'estimatedTokens' | 'abandoned' | 'taken'>;
  /** What attempts before this one have stored whole. */
  progress: ProgressAtStart;
  /** Of a turn whose place a compaction has folded: whether it is in that context; it stays so. */
  foldedInContext: boolean | undefined;
}

/** Tells the owner's other devices that the conversation goes on from an earlier point. */
async function replacementStatus(
  dependencies: ChatDependencies,
  { request, state }: Begin,
  before: ContextBefore,
): Promise<Write[]> {
  if (!before.replacement) return [];
  const status = viewContext(dependencies, { ...before, job: state.job, locale: undefined });
  return [await statusWrite(dependencies.store, request.conversationId, { ...status })];
}

/**
 * Begins a turn, takes one over, or begins one that waited: reads the context, refuses what cannot fit, and
 * makes all of it durable in one batch. `undefined`: what was read is no longer true, read again.
 * Throws GuardLostError, StoreUnavailableError, CONTEXT_WINDOW_WILL_OVERFLOW, and what the quota throws.
 */
export async function beginTurn(
  dependencies: ChatDependencies,
  begin: Begin,
): Promise<BegunTurn | undefined> {
  const { clock, randomness } = dependencies;
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const { seq } = decision;
  const { known } = state;
  const head = state.head ?? {
    create: firstHead(dependencies, request.caller, state.notes.revision),
  };
  const producer = randomness.uuid();
  const headRead = 'create' in head ? head.create : head.value;
  const index = startIndexLoad(dependencies, { request, head: headRead });
  const before = await readBefore(dependencies, begin, { head: headRead, by: producer });
  if (!before) return undefined;
  const replaces = firstReplaced(begin);
  const isNew = decision.kind === 'start';
  const message = await storedMessage(dependencies, request, {
    storedSeq: isNew ? (replaces ?? seq) : seq,
    isNew,
  });
  const prepared = await preparePrompt(dependencies, begin, { before, message, head, index });

  const now = clock.now();
  const lease = { producer, leaseUntil: leaseFrom(dependencies, now) };
  const { userTokens, surroundings, told } = prepared;
  const { replacement, foldedInContext } = before;
  const { model } = before.head;
  const kept = await keptRounds(dependencies, conversationId, { decision, known, model });
  const around = { surroundings, told };
  const routing = storedRouting(before.head, message, known?.value);
  const turn = {
    head,
    message: { ...message, routing },
    ...around,
    replacement,
    lease,
    userTokens,
    model,
    now,
    kept,
    foldedInContext,
  };
  const status = await replacementStatus(dependencies, begin, before);
  const reserved = prepared.reservation?.writes ?? [];
  const naming = { conversationId, seq, user: message.user };
  const named = isNew ? await namingWrites(dependencies, namedBy(naming)) : [];
  const writes = [...beginWrites({ ...begin, ...turn }), ...status, ...reserved, ...named];
  const turnUpdateTime = await commitStart(dependencies, { conversationId, seq, producer, writes });
  if (replacement?.need) await passCrashPoint(dependencies, 'replacement-begun');
  await keepUploads(dependencies, naming);
  const { history, turns } = before;
  return {
    attempt: { conversationId, seq, attempt: nextAttempt(begin), producer, turnUpdateTime },
    head: before.head,
    nextModel: headRead.model,
    job: state.job,
    history,
    turns,
    ...message,
    ...prepared,
    routing,
    progress: progressAtStart({ decision, kept, known }),
    createTime: decision.kind === 'start' ? now : (known?.value.createTime ?? now),
    replaces,
    replacementNeed: replacement?.need,
    foldedInContext,
  };
}
