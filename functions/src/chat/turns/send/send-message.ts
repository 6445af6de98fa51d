import { isReplaced } from '#shared/conversation/writes/replacement.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { waitAfterLost } from '#functions/lib/retry.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { type StartDecision, decideStart } from '#shared/conversation/start-decision.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { GuardLostError, StoreUnavailableError } from '#shared/lib/errors.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import { startProduction } from '../answer/produce-turn.ts';
import {
  type LiveTurn,
  type Reading,
  type ResumePoint,
  liveTurnKey,
  openReading,
} from '../live-turn.ts';
import { replayFrames } from '../stream/turn-frames.ts';
import { type WaitingTurn, interruptTurns, joinQueue } from './queue-turn.ts';
import { createBeforeTurn } from '../start/before-turn.ts';
import { beginTurn } from '../start/begin-turn.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { closeBeforeBeginning, closeGivenUp } from '../start/close-before.ts';
import { refuseHopeless } from '../overflow.ts';
import { type StartState, readStart, storedConversation } from '../start/read-start.ts';
import { type HeldQuota, holdQuota } from '../start/reserve-turn.ts';
import { followTurn, readOn } from '../stream/follow-frames.ts';
import { finishedFrom, iterateFrames, readFinished, readRemainder } from '../stream/read-turn.ts';
import { contentionError, isTakenOver, orFailure, shuttingDownError } from '../turn-errors.ts';
import { toRefusal } from './send-errors.ts';
import type { SendHandle, SendRequest } from './send-request.ts';

/** A start reads again at most this often when it loses its guard, or what it reads does not fit together. */
const START_TRIES = 30;

/** A turn of the conversation, and the generation of its context. */
interface PlacedTurn {
  seq: number;
  generation: number;
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
  request: SendRequest,
): Promise<SendHandle> {
  if (dependencies.shutdown.aborted) throw shuttingDownError('a message was refused');
  const held = holdQuota(dependencies);
  try {
    return await sendInTries(dependencies, withLowerIds(request), held);
  } finally {
    held.giveUp();
  }
}

/** iOS writes UUIDs in capitals: ids of messages are compared in small letters. */
const withLowerIds = ({ message, replacing, ...request }: SendRequest): SendRequest => ({
  ...request,
  message: { ...message, id: toLowerUuid(message.id) },
  ...(replacing && {
    replacing: { ...replacing, messageId: toLowerUuid(replacing.messageId) },
  }),
});

/** Reads, decides, and carries the decision out; again where another request was first. */
async function sendInTries(
  dependencies: ChatDependencies,
  request: SendRequest,
  held: HeldQuota,
): Promise<SendHandle> {
  const { conversationId } = request;
  let lastFailure: 'torn' | 'guardLost' = 'guardLost';
  // Asked before anything is stored or interrupted.
  const beforeTurn = createBeforeTurn(dependencies, request);
  // Not `retry`: documents of two moments are read again, too, and `again` asks for that without a pause.
  for (let tries = 0; tries < START_TRIES; tries++) {
    const state = await readStart(dependencies, request);
    if (request.isStored && !state.known) throw notFoundError();
    const decision = decideStart(state.facts);
    try {
      const seq = newTurnSeq(decision, state);
      const asked =
        seq === undefined ? request : { ...request, added: await beforeTurn(seq, state) };
      const handle = await execute(dependencies, asked, { decision, state, held });
      if (handle === 'again') continue;
      if (handle !== 'torn') return handle;
      lastFailure = 'torn';
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
      lastFailure = 'guardLost';
    }
    await waitAfterLost(dependencies.clock, tries);
  }
  if (lastFailure === 'guardLost') throw contentionError();
  const operation = `the documents of ${conversationId} do not fit together`;
  throw new StoreUnavailableError({ operation });
}

/** The turn that a decision creates, at once or after what it interrupts; undefined: none. */
function newTurnSeq(decision: StartDecision, { facts }: StartState): number | undefined {
  const { kind } = decision;
  if (kind === 'start' || kind === 'enqueue') return decision.seq;
  return kind === 'interrupt' ? (facts.conversation?.lastSeq ?? 0) + 1 : undefined;
}

/**
 * Carries a decision out. `again`: something was done that changes what there is to decide, read again.
 * `torn`: the documents that were read do not fit together.
 */
async function execute(
  dependencies: ChatDependencies,
  request: SendRequest,
  { decision, state, held }: { decision: StartDecision; state: StartState; held: HeldQuota },
): Promise<SendHandle | 'again' | 'torn'> {
  const { conversationId } = request;
  const generation = state.conversation?.value.generation ?? 0;
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
    case 'attach':
      return attachedHandle(dependencies, request, { ...decision, generation });
    case 'giveUp':
      if (!(await closeBeforeBeginning(dependencies, conversationId, state)))
        await closeGivenUp(dependencies, conversationId, state);
      return 'again';
    case 'waiting':
    case 'rejoin':
    case 'enqueue': {
      const waiting = await joinQueue(dependencies, request, state, decision);
      return waitingHandle(dependencies, request, { ...waiting, generation });
    }
    case 'interrupt':
      refuseHopeless(dependencies, request, storedConversation(state).value);
      await interruptTurns(dependencies, conversationId, decision);
      return 'again';
    case 'start':
    case 'takeOver':
    case 'answerAgain':
    case 'beginQueued': {
      if (await closeBeforeBeginning(dependencies, conversationId, state)) return 'again';
      const begun = await beginTurn(dependencies, { request, state, decision }, held);
      return begun ? answerBegun(dependencies, request, begun) : 'torn';
    }
  }
}

/** Begins to answer a turn, and returns the handle for the request with which the turn began. */
export function answerBegun(
  dependencies: ChatDependencies,
  request: SendRequest,
  begun: BegunTurn,
): SendHandle {
  const { seq } = begun.attempt;
  const { generation } = begun.context.conversation;
  const live = startProduction(dependencies, begun);
  return liveHandle(dependencies, request, { live, seq, generation, reading: { kind: 'all' } });
}

/** A turn that this instance or another one answers. */
function attachedHandle(
  dependencies: ChatDependencies,
  request: SendRequest,
  { seq, attempt, generation }: PlacedTurn & { attempt: number },
): SendHandle {
  const live = dependencies.liveTurns.get(liveTurnKey(request.conversationId, seq));
  if (live?.attempt !== attempt) return followedHandle(dependencies, request, { seq, generation });
  const reading = openReading(request.cursor, { attempt, lastId: live.lastId() });
  return liveHandle(dependencies, request, { live, seq, generation, reading });
}

/** A turn that this instance answers. If it loses the turn and no producer is left, the message is sent again. */
function liveHandle(
  dependencies: ChatDependencies,
  request: SendRequest,
  { live, seq, generation, reading }: PlacedTurn & { live: LiveTurn; reading: Reading },
): SendHandle {
  const sendAgain = (point: ResumePoint) => sendMessage(dependencies, { ...request, ...point });
  const result = live.result.then(orFailure, async (error: unknown) => {
    if (!isTakenOver(error)) throw error;
    return (await sendAgain({ cursor: undefined })).result;
  });
  return {
    turnId: turnId(seq),
    conversationId: request.conversationId,
    generation,
    replayed: false,
    frames: (left) => readOn(live.frames(reading, left), sendAgain, left),
    subscribe: (left) => live.subscribe(left),
    result: ignoreRejection(result),
  };
}

/** A turn that another instance answers. If that one dies, this one takes over, even with no reader left. */
function followedHandle(
  dependencies: ChatDependencies,
  request: SendRequest,
  { seq, generation }: PlacedTurn,
): SendHandle {
  const { conversationId, locale } = request;
  const { frames, end } = followTurn(dependencies, request, seq);
  const next = end.then((point) => point && sendMessage(dependencies, { ...request, ...point }));
  const result = async () => {
    const handle = await next;
    if (handle) return handle.result;
    const finished = await readFinished(dependencies, { conversationId, seq, locale });
    if (finished) return orFailure(finished);
    // The turn had failed retryably, and its next attempt runs already: the result is that one's.
    return (await sendMessage(dependencies, { ...request, cursor: undefined })).result;
  };
  return {
    turnId: turnId(seq),
    conversationId,
    generation,
    replayed: true,
    async *frames(left) {
      yield* frames();
      const handle = await next;
      if (handle) yield* handle.frames(left);
    },
    // A subscriber counts once this instance has taken the turn over.
    subscribe: (left) => subscribeLater(next, left),
    result: ignoreRejection(result()),
  };
}

/**
 * A message that waits in the queue, here or at another instance: its readers wait, and their connections stay open.
 */
function waitingHandle(
  dependencies: ChatDependencies,
  request: SendRequest,
  { seq, generation, subscribe, outcome }: WaitingTurn & PlacedTurn,
): SendHandle {
  const next = outcome.then((turn) =>
    turn === 'sendAgain'
      ? sendMessage(dependencies, request)
      : answerBegun(dependencies, request, turn),
  );
  return {
    turnId: turnId(seq),
    conversationId: request.conversationId,
    generation,
    replayed: false,
    async *frames(left) {
      yield* (await next).frames(left);
    },
    subscribe: (left) => {
      subscribe(left);
      subscribeLater(next, left);
    },
    result: ignoreRejection(next.then((handle) => handle.result)),
  };
}

const subscribeLater = (next: Promise<SendHandle | undefined>, left: AbortSignal): void =>
  void next.then(
    (handle) => handle?.subscribe(left),
    () => undefined,
  );

/** The stored answer as a stream of its own; no model call. */
async function replayHandle(
  dependencies: ChatDependencies,
  { conversationId, locale, cursor }: SendRequest,
  { state, seq }: { state: StartState; seq: number },
): Promise<SendHandle> {
  const [stored] = await readTurns(dependencies.store, conversationId, [seq]);
  const conversation = state.conversation?.value;
  if (!stored || !conversation) throw notFoundError();
  const turn = withFinalError(stored.value);
  const finished = await finishedFrom(dependencies, {
    conversationId,
    conversation,
    job: state.job,
    turn,
    locale,
  });
  const replay = { conversationId, ...finished };
  const rest = await readRemainder(dependencies, replay, cursor);
  // A duplicate is never refused for its cursor: one that makes no sense gets the whole answer.
  const isRefused = rest.kind === 'pastEnd' || rest.kind === 'expired';
  const frames = isRefused ? replayFrames(replay) : rest.frames;
  return {
    turnId: turnId(seq),
    conversationId,
    generation: finished.context.generation,
    replayed: true,
    frames: () => iterateFrames(frames),
    // It has ended: there is nothing to wait for.
    subscribe: () => undefined,
    result: ignoreRejection(Promise.resolve(finished).then(orFailure)),
  };
}

/**
 * The turn as it is replayed. The failure of a message that was deleted or replaced is told as a final one: such a
 * message is not answered any more, and a client library that is told 503 would send it for ever.
 */
function withFinalError(turn: Turn): Turn {
  const isGone = isReplaced(turn) || turn.eraseTime !== undefined;
  if (turn.error?.retryable !== true || !isGone) return turn;
  return {
    ...turn,
    error: {
      status: 'FAILED_PRECONDITION',
      reason: turn.error.reason,
      message:
        'This message was deleted, or another one has taken its place. Send its text as a new message, with a new id.',
      retryable: false,
    },
  };
}
