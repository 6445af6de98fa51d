import type { Shrinkage } from '../../../../shared/compaction/shrunken-view.ts';
import {
  estimateContentTokens,
  estimatePromptTokens,
} from '../../../../shared/compaction/token-estimate.ts';
import { promptOf } from '../../../../shared/conversation/assemble-context.ts';
import type { Head, Versioned } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import type { CompactionJob } from '../../../../shared/conversation/job.ts';
import { contextTokens } from '../../../../shared/conversation/meter.ts';
import { isReplaced } from '../../../../shared/conversation/replaced-by.ts';
import { shownUser } from '../../../../shared/conversation/shown-user.ts';
import { statusWrite } from '../../../../shared/conversation/status-write.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import type { MemoryTexts } from '../../../../shared/memory/render-memory.ts';
import type { Content } from '../../../../shared/conversation/content.ts';
import type { Prompt, Write } from '../../../../shared/ports.ts';
import type { QuotaRequest, Reservation } from '../../../../shared/quota-ports.ts';
import type { ProgressAtStart } from '../answer/turn-progress.ts';
import { meterCounting, policyOf } from '../../conversation-policy.ts';
import { memoryOf, withSaid } from '../../memory-of.ts';
import { beginWrites, type Beginning } from './begin-writes.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { commitStart } from './commit-start.ts';
import { firstHead } from './first-head.ts';
import type { Attempt } from '../answer/turn-store.ts';
import { viewOfNextCall } from './next-call.ts';
import { refuseOverflow } from './overflow.ts';
import { planReplacement, type PlannedReplacement } from './plan-replacement.ts';
import { keptRounds, progressAtStart } from './kept-rounds.ts';
import { abandonedDocuments, readContextBefore, type StartState } from './read-start.ts';
import { messageReplacedError } from './send-errors.ts';
import type { SendRequest } from './send-request.ts';
import { passCrashPoint } from '../crash-points.ts';
import { messageOf, type Message } from './stored-message.ts';
import { keepUploads, namedBy, namingWrites } from '../uploads/name-uploads.ts';
import { viewContext } from '../context/view-context.ts';
import { surroundingsOf, type Surroundings } from './surroundings.ts';

/** A turn that this instance now owns, with all that its answer needs. */
export interface BegunTurn extends Message, Surroundings {
  attempt: Attempt;
  head: Head;
  job: CompactionJob | undefined;
  history: History | undefined;
  /** Terminal turns of the tail before this one, without those that it replaces. */
  turns: readonly Turn[];
  prompt: Prompt;
  /** The message as its prompts say it: with what they say of the memory beside it. */
  sentUser: Content;
  /** What the prompt leaves out because the context is over the hard threshold. */
  shrinkage: Shrinkage | undefined;
  createTime: Date;
  /** First of the turns that this one stands in for. */
  replaces: number | undefined;
  /** The compaction that a replacement asks for; published with the end of the turn. */
  replacementNeed: PlannedReplacement['need'];
  /** The memory as the prefix of the prompt shows it. */
  memory: MemoryTexts;
  /** Uncalibrated estimates: of the message, of what was said of the memory beside it, of instruction and tools. */
  userTokens: number;
  saidTokens: number;
  overheadTokens: number;
  /** What the answer holds of its user's quota; undefined where nothing is limited. */
  reservation: Reservation | undefined;
  /** What further calls of this answer are reserved as. */
  quotaRequest: Omit<QuotaRequest, 'estimatedTokens' | 'abandoned' | 'taken'>;
  /** What attempts before this one have stored whole. */
  progress: ProgressAtStart;
}

interface Begin {
  request: SendRequest;
  state: StartState;
  decision: Beginning;
}

/** The context that the turn answers from, and what its batch changes of it. */
interface ContextBefore {
  head: Head;
  history: History | undefined;
  turns: readonly Turn[];
  replacement: PlannedReplacement | undefined;
}

const replacesOf = ({ state, decision }: Begin): number | undefined =>
  decision.kind === 'start' ? decision.replaces : state.known?.value.replaces;

/** The turn has begun before: what it replaces is replaced. */
const isGoingOn = ({ decision }: Begin): boolean => 'attempt' in decision;

/** Reads the context, and where the turn replaces others the one without them. */
async function readBefore(
  dependencies: ChatDependencies,
  begin: Begin,
  of: { head: Head; by: string },
): Promise<ContextBefore | undefined> {
  const { conversationId } = begin.request;
  const { head, by } = of;
  const beforeSeq = begin.decision.seq;
  const parts = await readContextBefore(dependencies, { conversationId, head, beforeSeq });
  if (!parts) return undefined;
  const fromSeq = replacesOf(begin);
  if (fromSeq === undefined || isGoingOn(begin)) return { head, ...parts, replacement: undefined };
  // While an edit waited, another one may have taken the place of the same message.
  const { replacing } = begin.state.facts;
  if (replacing?.target && isReplaced(replacing.target))
    throw messageReplacedError(conversationId, begin.request.replacing?.messageId ?? '');
  const asked = { conversationId, head, ...parts, fromSeq, by };
  const replacement = await planReplacement(dependencies, asked);
  const { headAfter, history, turns } = replacement;
  return { head: headAfter, history, turns, replacement };
}

const attemptOf = ({ decision }: Begin): number => ('attempt' in decision ? decision.attempt : 1);

/** Messages whose turns the batch closes because nobody answers them any more. */
function abandonedMessages({ state, decision }: Begin): string[] {
  if (!('abandoned' in decision)) return [];
  return abandonedDocuments(state, decision.abandoned).map(({ value }) => value.messageId);
}

/** What stands beside the message: as its turn stores it already, else what this request brings. */
function besideMessage(
  dependencies: ChatDependencies,
  { request, state, decision }: Begin,
  { before, isShrunken }: { before: ContextBefore; isShrunken: boolean },
): Surroundings {
  if (decision.kind !== 'start') {
    const { surroundings, told } = state.known?.value ?? {};
    return { surroundings, told };
  }
  const { generation } = before.head;
  const turns = isShrunken ? [] : before.turns;
  return surroundingsOf(dependencies, request, { generation, turns });
}

/** What is sent to the model; refuses what cannot fit. */
async function preparePrompt(
  dependencies: ChatDependencies,
  begin: Begin,
  of: { before: ContextBefore; message: Message; head: Versioned<Head> | { create: Head } },
) {
  const { config, quota } = dependencies;
  const { request } = begin;
  const { before, message } = of;
  const { notes } = begin.state;
  const { standing: memory, said } = memoryOf(config, {
    head: before.head,
    notes,
    message: message.user,
  });
  const source = {
    ...before.head,
    history: before.history,
    turns: before.turns,
    memory,
    serverTools: dependencies.toolbox.declarations,
  };
  const view = viewOfNextCall(dependencies, source);
  const isShrunken = (view.shrinkage?.turnsLeftOut ?? 0) > 0;
  const around = besideMessage(dependencies, begin, { before, isShrunken });
  const lastContent = shownUser({ user: withSaid(message.user, said), ...around });
  const prompt = promptOf(source, view.items, lastContent);
  const counting = meterCounting(before.head);
  const userTokens = estimateContentTokens(shownUser({ ...message, ...around }), counting);
  const sentTokens = estimateContentTokens(lastContent, counting);
  await refuseOverflow(dependencies, {
    conversationId: request.conversationId,
    head: of.head,
    // A compaction of the present context makes no room in the one that an edit goes back to.
    asksForCompaction: before.replacement === undefined,
    contextTokens: view.tokens,
    requestTokens: Math.ceil(before.head.context.calibration * sentTokens),
    overheadTokens: before.head.context.overheadTokens,
    policy: policyOf(config, before.head),
  });
  const quotaRequest = {
    caller: request.caller,
    conversationId: request.conversationId,
    messageId: request.message.id,
    attempt: attemptOf(begin),
    model: before.head.model,
  };
  const reservation = await quota.reserve({
    ...quotaRequest,
    estimatedTokens: view.tokens + sentTokens,
    abandoned: abandonedMessages(begin),
  });
  const overheadTokens = estimatePromptTokens({ ...prompt, contents: [] }, counting);
  return {
    prompt,
    sentUser: lastContent,
    shrinkage: view.shrinkage,
    memory,
    userTokens,
    saidTokens: sentTokens - userTokens,
    overheadTokens,
    ...around,
    reservation,
    quotaRequest,
  };
}

/** Tells the owner's other devices that the conversation goes on from an earlier point. */
async function replacementStatus(
  dependencies: ChatDependencies,
  { request, state }: Begin,
  before: ContextBefore,
): Promise<Write[]> {
  if (!before.replacement) return [];
  const { head } = before;
  const { tokens, source: tokensSource } = contextTokens(before);
  const { job } = state;
  const status = viewContext(dependencies, { head, tokens, tokensSource, job, locale: undefined });
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
  const { clock, config, randomness } = dependencies;
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const { seq } = decision;
  const head = state.head ?? {
    create: firstHead(dependencies, request.caller, state.notes.revision),
  };
  const producer = randomness.uuid();
  const headRead = 'create' in head ? head.create : head.value;
  const before = await readBefore(dependencies, begin, { head: headRead, by: producer });
  if (!before) return undefined;
  const replaces = replacesOf(begin);
  const isNew = decision.kind === 'start';
  const message = await messageOf(dependencies, request, {
    storedSeq: isNew ? (replaces ?? seq) : seq,
    isNew,
  });
  const prepared = await preparePrompt(dependencies, begin, { before, message, head });

  const now = clock.now();
  const lease = { producer, leaseUntil: new Date(now.getTime() + config.TURN_LEASE_MS) };
  const { userTokens, surroundings, told } = prepared;
  const { replacement } = before;
  const kept = await keptRounds(dependencies, conversationId, { decision, known: state.known });
  const around = { surroundings, told };
  const turn = { head, message, ...around, replacement, lease, userTokens, now, kept };
  const draft = { ...begin, ...turn };
  const status = await replacementStatus(dependencies, begin, before);
  const reserved = prepared.reservation?.writes ?? [];
  const naming = { conversationId, seq, user: message.user };
  const named = isNew ? await namingWrites(dependencies, namedBy(naming)) : [];
  const writes = [...beginWrites(draft), ...status, ...reserved, ...named];
  const turnUpdateTime = await commitStart(dependencies, { conversationId, seq, producer, writes });
  if (replacement?.need) await passCrashPoint(dependencies, 'replacement-begun');
  await keepUploads(dependencies, naming);
  const { history, turns } = before;
  return {
    attempt: {
      conversationId,
      seq,
      attempt: attemptOf(begin),
      producer,
      turnUpdateTime,
    },
    head: before.head,
    job: state.job,
    history,
    turns,
    ...message,
    ...prepared,
    progress: progressAtStart({ decision, kept, known: state.known }),
    createTime: decision.kind === 'start' ? now : (state.known?.value.createTime ?? now),
    replaces,
    replacementNeed: replacement?.need,
  };
}
