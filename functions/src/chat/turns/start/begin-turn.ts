import { answerText } from '#shared/models/content.ts';
import { queueAfter } from '#shared/conversation/start-decision.ts';
import { withoutSignatures } from '#shared/conversation/repair/repair-prompt.ts';
import {
  beginQueuedWrites,
  resumeWrites,
  takeOverWrites,
  startWrites,
  type Lease,
} from '#shared/conversation/writes/turn-writes.ts';
import { keepUploads, namedBy, namingWrites } from '#functions/chat/features/uploads.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { startIndexLoad } from '#functions/chat/features/recall-for-turn.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { leaseFrom } from '../answer/turn-writer.ts';
import { askInstruction } from './ask-instruction.ts';
import type { BegunTurn, ProgressAtStart, Begin, KeptProgress } from './begun-turn.ts';
import {
  conversationAtTurn,
  firstReplaced,
  readBefore,
  type ContextBefore,
} from './context-before.ts';
import { firstConversation, abandonedTurns } from './read-start.ts';
import { preparePrompt } from './prepare-prompt.ts';
import { holdQuota, nextAttempt, type HeldQuota } from './reserve-turn.ts';
import {
  storedMessage,
  regeneratedBy,
  type Message,
  newsOfClient,
  type TurnContext,
} from './turn-message.ts';
import { contextStatusWrite } from '#functions/chat/context/view-context.ts';
import { readTurns, readStoredTurn } from '#shared/conversation/context/read-conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { mayBeCommitted } from '#shared/lib/errors.ts';
import { groundingWithin } from '#shared/grounding/locate-claims.ts';
import { modelName } from '#shared/models/model-entry.ts';
import type { Write } from '#shared/ports/ports.ts';
import { isRouted } from '#shared/models/routing.ts';
import { firstFrameId } from '#shared/conversation/frame-ids.ts';

/** A turn as the batch stores it with which it begins. */
interface TurnToStore {
  conversation: Versioned<Conversation> | { create: Conversation };
  before: ContextBefore;
  message: Message;
  turnContext: TurnContext;
  userTokens: number;
  /** What the app says from this turn on; undefined: what is stored. */
  systemInstruction: string | undefined;
  lease: Lease;
  /** Of a turn that is taken over, or goes on. */
  kept: KeptProgress | undefined;
  now: Date;
}

/**
 * One of the tries to begin a turn, to take one over, or to begin one that waited: reads the context while the quota is
 * reserved, refuses what cannot fit, and makes all of it durable in one batch. `undefined`: what was read is no longer
 * true, read again. Throws GuardLostError, StoreUnavailableError, CONTEXT_WINDOW_WILL_OVERFLOW, and what the quota throws.
 */
export async function tryToBegin(
  dependencies: ChatDependencies,
  begin: Begin,
  held: HeldQuota,
): Promise<BegunTurn | undefined> {
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const { seq } = decision;
  const start = state.conversation ?? {
    create: firstConversation(dependencies, request.caller, state.notes.revision),
  };
  const asRead = 'create' in start ? start.create : start.value;
  const systemInstruction = await askInstruction(dependencies, begin, asRead);
  const conversationAsRead =
    systemInstruction === undefined ? asRead : { ...asRead, systemInstruction };
  held.begin(begin, conversationAtTurn(dependencies.config, begin, conversationAsRead));
  const producer = dependencies.randomness.uuid();
  const index = startIndexLoad(dependencies, { request, conversation: conversationAsRead });
  const before = await readBefore(dependencies, begin, {
    conversation: conversationAsRead,
    by: producer,
  });
  if (!before) return undefined;
  const { conversation, history, turns, replacement, foldedInContext } = before;
  const { model } = conversation;
  const known = state.known?.value;
  const replaces = firstReplaced(begin);
  const isNew = decision.kind === 'start';
  const message = await storedMessage(dependencies, request, {
    model,
    storedSeq: isNew ? (replaces ?? seq) : seq,
    isNew,
    known,
  });
  const prepared = await preparePrompt(dependencies, begin, {
    before,
    message,
    conversation: start,
    index,
  });
  const { call, tokens, memory, turnContext } = prepared;
  const reservation = await held.reserved(prepared.promptTokens);
  await passCrashPoint(dependencies, 'turn-reserved');

  const now = dependencies.clock.now();
  const kept = await readKeptProgress(dependencies, begin, model);
  const lease = { producer, leaseUntil: leaseFrom(dependencies, now) };
  const turnUpdateTime = await commitBeginning(dependencies, begin, {
    conversation: start,
    before,
    message,
    turnContext,
    userTokens: tokens.user,
    systemInstruction,
    lease,
    kept,
    now,
  });
  held.handOver();
  const createTime = isNew ? now : (known?.createTime ?? now);
  return {
    attempt: { conversationId, seq, attempt: nextAttempt(begin), ...lease, turnUpdateTime },
    turn: { ...message, ...turnContext, createTime, replaces, foldedInContext },
    context: {
      conversation,
      nextModel: conversationAsRead.model,
      job: state.job,
      history,
      turns,
      memory,
    },
    call,
    tokens,
    caller: request.caller,
    reservation,
    progress: progressAtStart(begin, kept),
    replacementRequest: replacement?.compactionRequest,
  };
}

/** The only try; what it has reserved is given back where it begins no turn. Throws the same. */
export async function beginTurn(
  dependencies: ChatDependencies,
  begin: Begin,
): Promise<BegunTurn | undefined> {
  const held = holdQuota(dependencies);
  try {
    return await tryToBegin(dependencies, begin, held);
  } finally {
    held.giveUp();
  }
}

/**
 * The rounds of a turn that is taken over or goes on with `model`, those whose calls nobody answered included. Where
 * the turn's model has been retired meanwhile, without signatures: its successor cannot read them.
 */
async function readKeptProgress(
  { store }: Pick<ChatDependencies, 'store'>,
  { request, state: { known }, decision }: Begin,
  model: string,
): Promise<KeptProgress | undefined> {
  const readStored = async (): Promise<KeptProgress | undefined> => {
    if (decision.kind !== 'takeOver' || known?.value.rounds === undefined) return undefined;
    const stored = (await readStoredTurn(store, request.conversationId, known)).value;
    const { rounds, usage, settled, leftOutFiles } = stored;
    if (!rounds) return undefined;
    const contents = stored.contents.slice(0, 2 * rounds.count);
    const grounding = groundingWithin(stored.grounding, answerText(contents).length);
    return { contents, rounds, usage, settled, grounding, leftOutFiles };
  };
  const kept = decision.kind === 'resume' ? decision.kept : await readStored();
  const modelBefore = known?.value.model ?? model;
  // The model of an `auto` turn is chosen later, and noted beside it.
  const isReadable = isRouted(model) || modelName(modelBefore) === modelName(model);
  return kept && !isReadable ? { ...kept, contents: withoutSignatures(kept.contents) } : kept;
}

/** What a producer begins with: a new attempt, or one that goes on after a pause. */
function progressAtStart(
  { decision, state: { known } }: Begin,
  kept: KeptProgress | undefined,
): ProgressAtStart {
  if (decision.kind === 'resume') {
    const { lastFrameId = -1 } = known?.value ?? {};
    return { ...(kept ?? decision.kept), nextFrameId: lastFrameId + 1, isResumed: true };
  }
  return {
    contents: [],
    ...kept,
    ...(kept && { rounds: { ...kept.rounds, step: kept.rounds.step + 1, frames: [] } }),
    nextFrameId: firstFrameId('attempt' in decision ? decision.attempt : 1),
    isResumed: false,
  };
}

/**
 * Makes the beginning of a turn durable, with all that belongs to it, in one batch. Returns the turn's update time.
 * Throws GuardLostError, StoreUnavailableError.
 */
async function commitBeginning(
  dependencies: ChatDependencies,
  begin: Begin,
  turn: TurnToStore,
): Promise<string> {
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const { before, lease } = turn;
  const { seq } = decision;
  const writes = beginWrites(begin, turn);
  if (before.replacement) {
    // Tells the owner's other devices that the conversation goes on from an earlier point.
    writes.push(
      await contextStatusWrite(dependencies, conversationId, { ...before, job: state.job }),
    );
  }
  const naming = { conversationId, seq, user: turn.message.user };
  if (decision.kind === 'start')
    writes.push(...(await namingWrites(dependencies, namedBy(naming))));
  const { producer } = lease;
  const committed = commitStart(dependencies, { conversationId, seq, producer, writes });
  // A cold instance loads the model's SDK while it waits for the store.
  dependencies.model.prepare?.();
  const turnUpdateTime = await committed;
  if (before.replacement?.compactionRequest)
    await passCrashPoint(dependencies, 'replacement-begun');
  await keepUploads(dependencies, naming);
  return turnUpdateTime;
}

/** The one batch with which a turn begins. */
function beginWrites({ request, state, decision }: Begin, turn: TurnToStore): Write[] {
  const { conversation, before, message, lease, kept, now, userTokens } = turn;
  const { replacement, foldedInContext } = before;
  const { model } = before.conversation;
  const { conversationId } = request;
  if (decision.kind === 'start') {
    const { seq, replaces } = decision;
    const knownClient =
      'create' in conversation ? conversation.create.client : conversation.value.client;
    return startWrites({
      conversationId,
      messageId: request.message.id,
      bodyHash: state.facts.bodyHash,
      seq,
      ...message,
      ...turn.turnContext,
      client: newsOfClient(knownClient, request),
      replaces,
      regenerates: regeneratedBy(request, replaces),
      userTokens,
      model,
      systemInstruction: turn.systemInstruction,
      lease,
      now,
      conversation,
      abandoned: abandonedTurns(state, decision.abandoned),
      replacement,
    });
  }
  const { known } = state;
  if ('create' in conversation || !known) throw new Error('a stored turn has a conversation');
  const { seq, attempt } = decision;
  const turnUpdateTime = known.updateTime;
  const begun = { conversationId, seq, attempt, lease, now, model, conversation, turnUpdateTime };
  switch (decision.kind) {
    case 'takeOver':
      return takeOverWrites({
        ...begun,
        foldedInContext,
        routing: message.routing,
        kept,
        ...(decision.abandoned && { abandoned: abandonedTurns(state, decision.abandoned) }),
      });
    case 'resume':
      return resumeWrites({
        ...begun,
        kept: kept ?? decision.kept,
        // Of a turn that nobody noted a model of, nobody knows who signed its calls.
        model: known.value.model && model,
        obsolete: known.piecePaths.slice(known.value.userPieces),
      });
    case 'beginQueued': {
      const waiting = state.facts.queue.filter((each) => !decision.abandoned.includes(each.seq));
      return beginQueuedWrites({
        ...begun,
        foldedInContext,
        userTokens,
        systemInstruction: turn.systemInstruction,
        replacement,
        queue: queueAfter(waiting, seq),
        abandoned: abandonedTurns(state, decision.abandoned),
      });
    }
  }
}

/**
 * Commits a batch that gives a turn to `producer`, and returns the turn's update time. After a lost reply,
 * or a client that repeated the commit by itself, the turn stands there with that nonce, which no other
 * batch writes: that is success. Throws GuardLostError, StoreUnavailableError.
 */
export async function commitStart(
  { store }: Pick<ChatDependencies, 'store'>,
  start: { conversationId: string; seq: number; producer: string; writes: readonly Write[] },
): Promise<string> {
  const { conversationId, seq, writes } = start;
  const path = turnPath(conversationId, seq);
  try {
    const updateTimes = await store.commit(writes);
    return updateTimes[writes.findIndex((write) => write.path === path)] ?? '';
  } catch (error) {
    if (!mayBeCommitted(error)) throw error;
    const [turn] = await readTurns(store, conversationId, [seq]);
    if (turn?.value.producer === start.producer) return turn.updateTime;
    throw error;
  }
}
