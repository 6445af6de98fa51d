import { decideStart, type StartDecision } from '#shared/conversation/decisions/start-decision.ts';
import {
  abandonedFields,
  closeAbandonedWrites,
} from '#shared/conversation/writes/end-abandoned.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { GuardLostError, StoreUnavailableError } from '#shared/errors.ts';
import { closeAbandonedTurn } from '../finish/close-turn.ts';
import { createBeforeTurn } from '../start/before-turn.ts';
import { beginTurn } from '../start/begin-turn.ts';
import { endStopped } from '../queue/end-stopped.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { followTurn } from '../stream/follow-turn.ts';
import { interruptTurns } from '../queue/interrupt-turns.ts';
import { liveTurnKey } from '../live/live-turn.ts';
import { idAsStored } from '#functions/chat/id-as-stored.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { readStart, type StartState } from '../start/read-start.ts';
import { followQueued, queueTurn, rejoinQueue } from '../queue/queue-turn.ts';
import { replayHandle } from '../stream/replay-turn.ts';
import { refuseHopeless } from '../start/overflow.ts';
import { contentionError } from './send-errors.ts';
import type { SendHandle, SendRequest } from './send-request.ts';
import { liveHandle, startProduction } from '../answer/start-production.ts';
import { toRefusal } from '../start/start-refusal.ts';
import { shuttingDownError } from '../stream/stream-cut.ts';

/** A start reads again at most this often when others win its guard, or what it reads does not fit together. */
const START_TRIES = 30;
const START_RETRY_MS = 10;
const START_RETRY_MAX_MS = 100;

const tornError = (conversationId: string) =>
  new StoreUnavailableError({
    operation: `the documents of ${conversationId} do not fit together`,
  });

/** Closes a turn that was tried too often, or waited too long, and frees the conversation. Throws GuardLostError. */
async function giveUp(dependencies: ChatDependencies, request: SendRequest, state: StartState) {
  const { head, known } = state;
  if (!head || !known) return;
  const { conversationId } = request;
  const now = dependencies.clock.now();
  const abandoned = abandonedFields(known, now);
  if (head.value.open?.seq === known.value.seq)
    return closeAbandonedTurn(dependencies, { conversationId, head, abandoned });
  await dependencies.store.commit(
    closeAbandonedWrites(conversationId, { abandoned: [abandoned], now }),
  );
}

/** The turn that a decision creates, now or as soon as there is room; undefined: none. */
function newTurnSeq(decision: StartDecision, { facts }: StartState): number | undefined {
  const { kind } = decision;
  if (kind === 'start' || kind === 'enqueue') return decision.seq;
  return kind === 'interrupt' ? (facts.head?.lastSeq ?? 0) + 1 : undefined;
}

/**
 * Carries a decision out. `again`: something was done that changes what there is to decide, read again.
 * `undefined`: the documents that were read do not fit together.
 */
async function carryOut(
  dependencies: ChatDependencies,
  request: SendRequest,
  { decision, state }: { decision: StartDecision; state: StartState },
): Promise<SendHandle | 'again' | undefined> {
  const { conversationId } = request;
  switch (decision.kind) {
    case 'notFound':
    case 'keyReused':
    case 'busy':
    case 'queueFull':
    case 'retryLater':
    case 'targetNotFound':
    case 'notUserMessage':
    case 'notLastAnswer':
    case 'messageReplaced':
    case 'tooFarBack':
      throw toRefusal(request, decision, state);
    case 'replay':
      return replayHandle(dependencies, request, { state, seq: decision.seq });
    case 'attach': {
      const live = dependencies.liveTurns.get(liveTurnKey(conversationId, decision.seq));
      const generation = state.head?.value.generation ?? 0;
      return live?.attempt === decision.attempt
        ? liveHandle(request, live, { seq: decision.seq, generation })
        : followTurn(dependencies, request, { seq: decision.seq, generation, sendMessage });
    }
    case 'giveUp':
      if (await endStopped(dependencies, conversationId, state)) return 'again';
      await giveUp(dependencies, request, state);
      return 'again';
    case 'waiting':
      return followQueued(dependencies, { request, state, seq: decision.seq, sendMessage });
    case 'rejoin':
      return rejoinQueue(dependencies, { request, state, seq: decision.seq, sendMessage });
    case 'enqueue':
      refuseHopeless(dependencies, request, state.head);
      return queueTurn(dependencies, { request, state, decision, sendMessage });
    case 'interrupt':
      refuseHopeless(dependencies, request, state.head);
      await interruptTurns(dependencies, conversationId, decision);
      return 'again';
    case 'start':
    case 'takeOver':
    case 'beginQueued': {
      if (await endStopped(dependencies, conversationId, state)) return 'again';
      const begun = await beginTurn(dependencies, { request, state, decision });
      return begun && startProduction(dependencies, { request, begun, sendMessage });
    }
  }
}

/** The request with the ids of messages as they are stored. */
async function withIdsAsStored(
  dependencies: ChatDependencies,
  request: SendRequest,
): Promise<SendRequest> {
  const { conversationId, message, replacing } = request;
  const asStored = (id: string) =>
    idAsStored(dependencies, id, (each) => messageGuardPath(conversationId, each));
  return {
    ...request,
    message: { ...message, id: await asStored(message.id) },
    ...(replacing && {
      replacing: { ...replacing, messageId: await asStored(replacing.messageId) },
    }),
  };
}

/**
 * Attach or create: a message id becomes one turn, whatever is retried. New → a turn starts; running →
 * the same live stream; queued → waited with; done → the stored answer; abandoned → taken over. An edit
 * and a regeneration are starts that replace earlier turns.
 * Throws AppError for all that is decided before the first byte: NOT_FOUND, TURN_IN_PROGRESS,
 * MESSAGE_NOT_FOUND, NOT_A_USER_MESSAGE, NOT_THE_LAST_ANSWER, MESSAGE_REPLACED, EDIT_TOO_FAR_BACK,
 * IDEMPOTENCY_KEY_REUSED, CONTEXT_WINDOW_WILL_OVERFLOW, TURN_DENIED, HOOK_FAILED, quota reasons, STORE_UNAVAILABLE, SHUTTING_DOWN.
 */
export async function sendMessage(
  dependencies: ChatDependencies,
  given: SendRequest,
): Promise<SendHandle> {
  if (dependencies.shutdown.aborted) throw shuttingDownError('a message was refused');
  const request = await withIdsAsStored(dependencies, given);
  let isTorn = false;
  const beforeTurn = createBeforeTurn(dependencies, request);
  // Not `retry`: documents of two moments are read again, too, and `again` asks for that without a pause.
  for (let tries = 0; tries < START_TRIES; tries++) {
    const state = await readStart(dependencies, request);
    if (request.isStored && !state.known) throw notFoundError(request.conversationId);
    const decision = decideStart(state.facts);
    try {
      // Before anything is stored, and before what is being answered is stopped for it.
      const seq = newTurnSeq(decision, state);
      const head = state.facts.head;
      const addedContext = seq === undefined ? undefined : await beforeTurn({ seq, head });
      const asked = { ...request, addedContext };
      const handle = await carryOut(dependencies, asked, { decision, state });
      if (handle === 'again') continue;
      if (handle) return handle;
      isTorn = true;
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
      isTorn = false;
    }
    await dependencies.clock.wait(Math.min(START_RETRY_MAX_MS, START_RETRY_MS * tries));
  }
  throw isTorn
    ? tornError(request.conversationId)
    : contentionError(request.conversationId, START_TRIES);
}
