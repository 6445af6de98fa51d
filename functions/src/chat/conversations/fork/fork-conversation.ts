import { pinnedTokens } from '#shared/conversation/context/meter.ts';
import { withoutPinsFrom } from '#shared/conversation/context/pins.ts';
import {
  newConversation,
  nothingCovered,
  type ContextMeter,
  type CompactionRequests,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { requestAfterChange } from '#functions/chat/context/change-generation.ts';
import { markErasing } from '#functions/erasure/erase-conversation.ts';
import { publishErase, publishRequest } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retry } from '#functions/lib/retry.ts';
import { newestHistoryThrough } from '#shared/conversation/context/find-history.ts';
import { firstTailSeq, readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { firstInboxWrites } from '#shared/conversation/documents/inbox.ts';
import {
  lastAnswer,
  lastQuestion,
  withoutPreview,
} from '#shared/conversation/documents/last-message.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { continuedHistory } from '#shared/conversation/writes/next-generation.ts';
import { sameConversationWrite } from '#shared/conversation/writes/same-conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import { findMessage, unfinishedTurnError } from '../erase/find-message.ts';
import { readOwnConversation, type ConversationTarget } from '../own-conversation.ts';
import {
  clearFork,
  type CopiedTurn,
  copyHistory,
  copyTurns,
  SourceChangedError,
} from './fork-copy.ts';
import { type ForkSource, claimFork, type ForkTarget } from './fork-target.ts';

/** What a fork has of its source besides the conversation document. */
interface MadeFork {
  /** Its first generation, where something stands in for its oldest turns. */
  history: History | undefined;
  turns: readonly CopiedTurn[];
}

/** The pins that go along: not those of turns that the fork has not. */
const forkPins = ({ conversation, seq }: ForkSource) =>
  withoutPinsFrom(conversation.pins, (pinned) => pinned > seq);

/** Estimated: nothing was sent of the fork yet. */
function forkMeter(source: ForkSource, { history, turns }: MadeFork): ContextMeter {
  const { overheadTokens, calibration } = source.conversation.context;
  const coveredThrough = history?.coveredThrough ?? nothingCovered;
  const first = firstTailSeq({ ...source.conversation, coveredThrough });
  const tailTokens = turns
    .filter(({ seq }) => seq >= first)
    .reduce((sum, { tokens }) => sum + tokens, 0);
  const contentTokens =
    pinnedTokens(forkPins(source), history, source.conversation.context.memoryTokens ?? 0) +
    (history?.snapshotTokens ?? 0) +
    tailTokens;
  return {
    tokens: Math.ceil(overheadTokens + calibration * contentTokens),
    overheadTokens,
    calibration,
    source: 'estimated',
    generation: history ? 1 : 0,
    seq: source.seq,
  };
}

/** What the document of the fork says once it is live: what its source says, for the turns that it has. */
const liveFields = (source: ForkSource, made: MadeFork, now: Date) => {
  const { conversation, seq, newest } = source;
  const { history } = made;
  // A title that was made of later turns tells of what the fork does not have.
  const isTitleOfFork = (conversation.autoTitle?.throughSeq ?? 0) <= seq;
  return {
    state: 'live',
    ...(isTitleOfFork && { title: conversation.title, autoTitle: conversation.autoTitle }),
    ...(conversation.systemInstruction !== undefined && {
      systemInstruction: conversation.systemInstruction,
    }),
    ...(conversation.serverInstruction !== undefined && {
      serverInstruction: conversation.serverInstruction,
    }),
    ...(conversation.toolsJson !== undefined && { toolsJson: conversation.toolsJson }),
    model: conversation.model,
    profile: conversation.profile,
    settings: conversation.settings,
    metadata: conversation.metadata,
    updateTime: now,
    generation: history ? 1 : 0,
    coveredThrough: { ...(history?.coveredThrough ?? nothingCovered) },
    lastSeq: seq,
    ...newest,
    pins: forkPins(source),
    ...(conversation.memoryRevision !== undefined && {
      memoryRevision: conversation.memoryRevision,
    }),
    ...(conversation.client && { client: conversation.client }),
    context: forkMeter(source, made),
  } as const;
};

/** A source that changes while it is copied is copied again this often. */
const COPY_TRIES = 5;

/** Turns of a fork at most: all are copied in the one request (2,000 took 3.6 s on the emulator). */
export const FORK_TURNS_MAX = 20_000;

interface ForkRequest extends ConversationTarget {
  /** User message or answer; its whole turn is the last of the fork. */
  messageId: string;
  /** Of the new conversation; the same id again is the same fork. Drawn here when the caller chose none. */
  id?: string | undefined;
}

interface Fork {
  conversationId: string;
  conversation: Conversation;
  isNew: boolean;
}

const busySource = () =>
  new AppError({
    reason: 'CONVERSATION_BUSY',
    publicMessage: 'The conversation keeps changing. Try again in a moment.',
    retryAfterMs: 1_000,
  });

const forkTooLarge = (turns: number) =>
  new AppError({
    reason: 'FORK_TOO_LARGE',
    publicMessage: `A fork has at most ${FORK_TURNS_MAX} turns, this one would have ${turns}. Fork at an earlier message.`,
    metadata: { turns: String(turns), turnsMax: String(FORK_TURNS_MAX) },
  });

async function findSource(
  dependencies: ChatDependencies,
  request: ForkRequest,
): Promise<ForkSource> {
  const own = await readOwnConversation(dependencies, request);
  const { conversationId, messageId } = request;
  const target = { conversationId, conversation: own.conversation.value };
  const { seq, turn } = await findMessage(dependencies, target, messageId);
  if (seq > FORK_TURNS_MAX) throw forkTooLarge(seq);
  return { ...target, seq, newest: newestOf(turn.value) };
}

/** A turn that has ended as the conversation document tells of it. */
function newestOf({
  seq,
  state,
  user,
  contents,
  createTime,
  finishTime = createTime,
  eraseTime,
}: Turn): ForkSource['newest'] {
  if (!isTerminal(state)) throw unfinishedTurnError(seq);
  const asked = lastQuestion(seq, user, createTime);
  const answered = lastAnswer({ seq, state }, contents, finishTime);
  const isQuestionGone = eraseTime !== undefined && user.parts.length === 0;
  return {
    asked: isQuestionGone ? withoutPreview(asked) : asked,
    answered: eraseTime ? withoutPreview(answered) : answered,
  };
}

/**
 * The first generation of the fork: what stands in for its oldest turns, if something does. It ends before
 * the first turn that the fork takes back into the context: a snapshot made since covers such a turn
 * without telling of it.
 */
async function firstHistory(
  dependencies: ChatDependencies,
  { source, target }: { source: ForkSource; target: ForkTarget },
  turns: readonly CopiedTurn[],
): Promise<History | undefined> {
  const revived = turns.filter(({ isRevived }) => isRevived).map(({ seq }) => seq - 1);
  const found = await newestHistoryThrough(dependencies, source, Math.min(source.seq, ...revived));
  if (!found || found.coveredThrough.seq === 0) return undefined;
  return continuedHistory({
    conversation: { generation: 0 },
    source: found,
    state: 'RESTORED',
    requestId: target.conversationId,
    by: target.epoch(),
    now: dependencies.clock.now(),
    beforeTokens: found.afterTokens,
    afterTokens: found.afterTokens,
  });
}

/**
 * Makes the fork live, if the source is still the one that was copied: messages that came meanwhile do not
 * matter, changes to earlier ones do. Resolves to the compaction that the fork asks for from the start.
 */
async function finishFork(
  dependencies: ChatDependencies,
  fork: { source: ForkSource; target: ForkTarget },
  made: MadeFork,
): Promise<CompactionRequests['auto']> {
  const { store, clock } = dependencies;
  const { source, target } = fork;
  const { conversationId, createTime } = target;
  const madeAt = clock.now();
  const fields = liveFields(source, made, madeAt);
  const { systemInstruction } = source.conversation;
  const begun = newConversation({ ...source.conversation, systemInstruction, now: createTime });
  const live = { ...begun, ...fields };
  const compactionRequest = requestAfterChange(dependencies, {
    conversation: { ...source.conversation, ...fields, compactionRequests: {} },
    history: made.history,
    tokens: fields.context.tokens,
  });
  await target.commit({
    fields: {
      ...fields,
      ...(compactionRequest && { 'compactionRequests.auto': { ...compactionRequest } }),
    },
    build: async () => {
      const now = await readConversation(store, source.conversationId);
      const isSame =
        now?.value.state === 'live' &&
        now.value.ownerUid === source.conversation.ownerUid &&
        now.value.changedIn === source.conversation.changedIn;
      if (!isSame) throw new SourceChangedError(source.conversationId);
      return [
        sameConversationWrite(source.conversationId, now.updateTime),
        ...firstInboxWrites(conversationId, live, madeAt),
      ];
    },
  });
  return compactionRequest;
}

async function copyOnce(
  dependencies: ChatDependencies,
  request: ForkRequest,
  forkId: string,
): Promise<Omit<Fork, 'conversation'>> {
  const source = await findSource(dependencies, request);
  const { caller } = request;
  const claimed = await claimFork(dependencies, { caller, conversationId: forkId, source });
  if (claimed.kind === 'live') return { conversationId: forkId, isNew: false };
  const { target } = claimed;
  await passCrashPoint(dependencies, 'fork-begun');
  await clearFork(dependencies, target);
  await passCrashPoint(dependencies, 'fork-cleared');
  const turns = await copyTurns(dependencies, { source, target });
  const history = await firstHistory(dependencies, { source, target }, turns);
  if (history) await copyHistory(dependencies, { source, target }, history);
  await passCrashPoint(dependencies, 'fork-copied');
  const compactionRequest = await finishFork(dependencies, { source, target }, { history, turns });
  await passCrashPoint(dependencies, 'fork-live');
  if (compactionRequest) {
    const { requestId, trigger } = compactionRequest;
    await publishRequest(dependencies, { conversationId: forkId, requestId, trigger });
  }
  return { conversationId: forkId, isNew: true };
}

/**
 * Has what this or an earlier try has left of a fork erased at once: its source is gone, so nobody makes it
 * whole. The sweep would only come for it by its age.
 */
async function dropFork(
  dependencies: ChatDependencies,
  { caller, conversationId }: ForkRequest,
  forkId: string,
): Promise<void> {
  const isLeft = (conversation: Conversation) =>
    conversation.state === 'forking' &&
    conversation.ownerUid === caller.uid &&
    conversation.forkedFrom?.conversationId === conversationId;
  if ((await markErasing(dependencies, forkId, isLeft)) === 'erasing')
    await publishErase(dependencies, forkId);
}

const isSourceChanged = (error: unknown) => error instanceof SourceChangedError;

/**
 * Copies a conversation up to a message into a new one of the same caller. The copy is found when it is
 * whole; a request that died half way is begun anew by the same id, or swept away. Turns that only later
 * messages replaced are in the context of the fork.
 * Throws NOT_FOUND, MESSAGE_NOT_FOUND, TURN_IN_PROGRESS, FORK_TOO_LARGE, IDEMPOTENCY_KEY_REUSED,
 * FORK_TAKEN_OVER, CONVERSATION_BUSY, USER_DAILY_CREATIONS, ANONYMOUS_LIMIT.
 */
export async function forkConversation(
  dependencies: ChatDependencies,
  request: ForkRequest,
): Promise<Fork> {
  const forkId = request.id ? toLowerUuid(request.id) : dependencies.randomness.uuid();
  try {
    const made = await retry(() => copyOnce(dependencies, request, forkId), {
      mostTries: COPY_TRIES,
      isRetryable: isSourceChanged,
    });
    const target = { caller: request.caller, conversationId: forkId };
    const { conversation } = await readOwnConversation(dependencies, target);
    return { ...made, conversation: conversation.value };
  } catch (error) {
    if (error instanceof AppError && error.reason === 'CONVERSATION_NOT_FOUND')
      await dropFork(dependencies, request, forkId);
    throw isSourceChanged(error) ? busySource() : error;
  }
}
