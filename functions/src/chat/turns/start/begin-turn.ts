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
import { leaseFrom } from '../lease.ts';
import { askInstruction } from './ask-instruction.ts';
import type { BegunTurn, ProgressAtStart, TurnToBegin, KeptProgress } from './begun-turn.ts';
import {
  conversationAtTurn,
  firstReplaced,
  planContext,
  type PlannedContext,
} from './plan-context.ts';
import {
  firstConversation,
  abandonedTurns,
  knownTurn,
  storedConversation,
  turnsToClose,
} from './read-start.ts';
import { tellAbandoned } from '../finish/close-turn.ts';
import { preparePrompt } from './prepare-prompt.ts';
import { holdQuota, nextAttempt, type HeldQuota } from './reserve-turn.ts';
import {
  newMessage,
  messageOfTurn,
  regeneratedBy,
  type Message,
  newsOfClient,
  type TurnContext,
} from './turn-message.ts';
import { contextStatusWrite } from '#functions/chat/context/view-context.ts';
import { readTurns, readStoredTurn } from '#shared/conversation/context/read-conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { answerPiecePaths, nextStep } from '#shared/conversation/documents/turn.ts';
import { mayBeCommitted } from '#shared/lib/errors.ts';
import { groundingWithin } from '#shared/grounding/locate-claims.ts';
import { modelName } from '#shared/models/model-entry.ts';
import type { Write } from '#shared/ports/ports.ts';
import { isRouted } from '#shared/models/routing.ts';
import { firstFrameId } from '#shared/conversation/frame-ids.ts';

/** What the batch stores with which a turn begins. */
interface TurnToStore {
  document: Versioned<Conversation> | { create: Conversation };
  planned: PlannedContext;
  message: Message;
  turnContext: TurnContext;
  userTokens: number;
  /** The app's new system instruction; undefined: the stored one stays. */
  systemInstruction: string | undefined;
  lease: Lease;
  /** Of a turn that is taken over or answered again, or goes on. */
  kept: KeptProgress | undefined;
  now: Date;
}

/**
 * One try to give a turn a producer: to start it, to take it over, to begin it after it waited, or to go on with it.
 * Reads the context while the quota is reserved, refuses what cannot fit, and stores all of it in one batch.
 * `undefined`: the conversation changed meanwhile, read again. Throws GuardLostError, StoreUnavailableError,
 * CONTEXT_WINDOW_WILL_OVERFLOW, and what the quota throws.
 */
export async function beginTurn(
  dependencies: ChatDependencies,
  toBegin: TurnToBegin,
  held: HeldQuota,
): Promise<BegunTurn | undefined> {
  const { request, state, decision } = toBegin;
  const { conversationId } = request;
  const { seq } = decision;
  const document = state.conversation ?? {
    create: firstConversation(dependencies, request.caller, state.notes.revision),
  };
  const stored = 'create' in document ? document.create : document.value;
  const systemInstruction = await askInstruction(dependencies, toBegin, stored);
  const withInstruction =
    systemInstruction === undefined ? stored : { ...stored, systemInstruction };
  held.reserve(toBegin, conversationAtTurn(dependencies.config, toBegin, withInstruction));
  const producer = dependencies.randomness.uuid();
  const index = startIndexLoad(dependencies, { request, conversation: withInstruction });
  const planned = await planContext(dependencies, toBegin, {
    conversation: withInstruction,
    by: producer,
  });
  if (!planned) return undefined;
  const { history, turns, replacement, foldedInContext } = planned;
  const { model } = planned.conversation;
  const replaces = firstReplaced(toBegin);
  const isNew = decision.kind === 'start';
  const message = isNew
    ? await newMessage(dependencies, request, { model, replaces })
    : await messageOfTurn(dependencies, request, { model, known: knownTurn(state).value });
  const prepared = await preparePrompt(dependencies, toBegin, {
    planned,
    message,
    document,
    index,
  });
  const { call, tokens, memory, turnContext } = prepared;
  const reservation = await held.whenReserved(prepared.promptTokens);
  await passCrashPoint(dependencies, 'turn-reserved');

  const now = dependencies.clock.now();
  const kept = await readKeptProgress(dependencies, toBegin, model);
  const lease = { producer, leaseUntil: leaseFrom(dependencies, now) };
  const turnUpdateTime = await commitBeginning(dependencies, toBegin, {
    document,
    planned,
    message,
    turnContext,
    userTokens: tokens.user,
    systemInstruction,
    lease,
    kept,
    now,
  });
  held.handOver();
  if ('closes' in decision)
    tellAbandoned(dependencies, conversationId, turnsToClose(state, decision.closes));
  const { createTime } = isNew ? { createTime: now } : knownTurn(state).value;
  return {
    attempt: { conversationId, seq, attempt: nextAttempt(toBegin), ...lease, turnUpdateTime },
    messageId: request.message.id,
    locale: request.locale,
    turn: { ...message, ...turnContext, createTime, replaces, foldedInContext },
    context: {
      conversation: planned.conversation,
      nextModel: withInstruction.model,
      job: state.job,
      history,
      turns,
      memory,
    },
    call,
    tokens,
    caller: request.caller,
    reservation,
    progress: progressAtStart(toBegin, kept),
    replacementRequest: replacement?.compactionRequest,
  };
}

/** `beginTurn` for a caller that makes one try: gives its reservation back where no turn begins. Throws the same. */
export async function beginTurnOnce(
  dependencies: ChatDependencies,
  toBegin: TurnToBegin,
): Promise<BegunTurn | undefined> {
  const held = holdQuota(dependencies);
  try {
    return await beginTurn(dependencies, toBegin, held);
  } finally {
    held.giveUp();
  }
}

/**
 * The rounds from which a turn goes on that is taken over, answered again or resumed; the calls of the last one may be
 * open. Without signatures where the turn's model has been retired meanwhile: its successor cannot read them.
 */
async function readKeptProgress(
  dependencies: Pick<ChatDependencies, 'store'>,
  toBegin: TurnToBegin,
  model: string,
): Promise<KeptProgress | undefined> {
  const { decision, state } = toBegin;
  const kept =
    decision.kind === 'resume' ? decision.kept : await readStoredRounds(dependencies, toBegin);
  // The model of an `auto` turn is chosen later, and stored in `routing`.
  if (!kept || isRouted(model)) return kept;
  const modelBefore = knownTurn(state).value.model ?? model;
  return modelName(modelBefore) === modelName(model)
    ? kept
    : { ...kept, contents: withoutSignatures(kept.contents) };
}

/** What the attempt before has stored of its rounds; undefined: none, or there was no such attempt. */
async function readStoredRounds(
  { store }: Pick<ChatDependencies, 'store'>,
  { request, state, decision }: TurnToBegin,
): Promise<KeptProgress | undefined> {
  if (decision.kind !== 'takeOver' && decision.kind !== 'answerAgain') return undefined;
  const known = knownTurn(state);
  const { rounds, usage, settled, isCounted, leftOutFiles } = known.value;
  if (!rounds) return undefined;
  const stored = (await readStoredTurn(store, request.conversationId, known)).value;
  const contents = stored.contents.slice(0, 2 * rounds.count);
  const grounding = groundingWithin(stored.grounding, answerText(contents).length);
  // The frames are those of the attempt before.
  const ownRounds = { ...nextStep(rounds), frames: [] };
  return { contents, rounds: ownRounds, usage, settled, isCounted, grounding, leftOutFiles };
}

/** What a producer begins with, in a new attempt or in one that goes on after a pause. */
function progressAtStart(toBegin: TurnToBegin, kept: KeptProgress | undefined): ProgressAtStart {
  const isResumed = toBegin.decision.kind === 'resume';
  const { lastFrameId = -1 } = toBegin.state.known?.value ?? {};
  const nextFrameId = isResumed ? lastFrameId + 1 : firstFrameId(nextAttempt(toBegin));
  return { contents: [], ...kept, nextFrameId, isResumed };
}

/**
 * Commits the batch with which a turn begins. Returns the turn's update time. Throws GuardLostError,
 * StoreUnavailableError.
 */
async function commitBeginning(
  dependencies: ChatDependencies,
  toBegin: TurnToBegin,
  turn: TurnToStore,
): Promise<string> {
  const { request, state, decision } = toBegin;
  const { conversationId } = request;
  const { planned, lease } = turn;
  const { seq } = decision;
  const writes = beginWrites(toBegin, turn);
  if (planned.replacement) {
    // Tells the owner's other devices that the conversation goes on from an earlier point.
    writes.push(
      await contextStatusWrite(dependencies, conversationId, { ...planned, job: state.job }),
    );
  }
  const naming = { conversationId, seq, user: turn.message.user };
  if (decision.kind === 'start')
    writes.push(...(await namingWrites(dependencies, namedBy(request.caller.uid, naming))));
  const { producer } = lease;
  const committed = commitStart(dependencies, { conversationId, seq, producer, writes });
  // A cold instance loads the model's SDK while it waits for the store.
  dependencies.model.prepare?.();
  const turnUpdateTime = await committed;
  if (planned.replacement?.compactionRequest)
    await passCrashPoint(dependencies, 'replacement-begun');
  await keepUploads(dependencies, naming);
  return turnUpdateTime;
}

/** The one batch with which a turn begins. */
function beginWrites({ request, state, decision }: TurnToBegin, turn: TurnToStore): Write[] {
  const { document, planned, message, lease, kept, now, userTokens } = turn;
  const { replacement, foldedInContext } = planned;
  const { model } = planned.conversation;
  const { conversationId } = request;
  if (decision.kind === 'start') {
    const { seq, replaces } = decision;
    const knownClient = 'create' in document ? document.create.client : document.value.client;
    return startWrites({
      conversationId,
      messageId: request.message.id,
      bodyHash: state.facts.bodyHash,
      isFromServer: request.caller.actor !== undefined,
      seq,
      ...message,
      ...turn.turnContext,
      client: newsOfClient(knownClient, request),
      replaces,
      regenerates: regeneratedBy(request, replaces),
      userTokens,
      model,
      chosenModel: request.added?.model,
      systemInstruction: turn.systemInstruction,
      lease,
      now,
      conversation: document,
      abandoned: abandonedTurns(state, decision.closes),
      replacement,
    });
  }
  const known = knownTurn(state);
  const { seq, attempt } = decision;
  const begun = {
    conversationId,
    seq,
    attempt,
    lease,
    now,
    model,
    conversation: storedConversation(state),
    turnUpdateTime: known.updateTime,
  };
  switch (decision.kind) {
    case 'takeOver':
      return takeOverWrites({ ...begun, foldedInContext, routing: message.routing, kept });
    case 'answerAgain': {
      const abandoned = abandonedTurns(state, decision.closes);
      const { routing } = message;
      return takeOverWrites({ ...begun, foldedInContext, routing, kept, abandoned });
    }
    case 'resume':
      return resumeWrites({
        ...begun,
        kept: kept ?? decision.kept,
        // Where the turn document names no model, it goes on naming none: which model signed its calls is not known.
        model: known.value.model && model,
        obsolete: answerPiecePaths(known),
      });
    case 'beginQueued': {
      const waiting = state.facts.queue.filter((each) => !decision.closes.includes(each.seq));
      return beginQueuedWrites({
        ...begun,
        foldedInContext,
        userTokens,
        systemInstruction: turn.systemInstruction,
        replacement,
        queue: queueAfter(waiting, seq),
        abandoned: abandonedTurns(state, decision.closes),
      });
    }
  }
}

/**
 * Commits a batch that gives a turn to `producer`, and returns the turn's update time. A commit whose reply was lost
 * has succeeded if the turn names this producer: no other batch writes that nonce. Throws GuardLostError,
 * StoreUnavailableError.
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
