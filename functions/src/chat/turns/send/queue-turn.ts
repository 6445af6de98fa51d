import {
  decideQueued,
  holdsQueue,
  QUEUE_MAX,
  type QueuedDecision,
  queueAfter,
  type StartDecision,
} from '#shared/conversation/start-decision.ts';
import {
  failQueuedWrites,
  enqueueWrites,
  waiterLeaseWrite,
} from '#shared/conversation/writes/turn-writes.ts';
import { addAfterwork, type ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { namedBy, namingWrites } from '#functions/chat/features/uploads.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { publishTurnFinished } from '#functions/events/publish-turn-event.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { shownUser, isTerminal, type TurnDocument } from '#shared/conversation/documents/turn.ts';
import { AppError, GuardLostError, mayBeCommitted } from '#shared/lib/errors.ts';
import { isPassingLimit } from '#shared/quota/quota-error.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { SendRequest } from './send-request.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { commitStart, beginTurnOnce } from '../start/begin-turn.ts';
import { closeBeforeBeginning } from '../start/close-before.ts';
import { tellAbandoned } from '../finish/close-turn.ts';
import { refuseHopeless } from '../overflow.ts';
import {
  type StartState,
  abandonedTurns,
  knownTurn,
  readStart,
  storedConversation,
  turnsToClose,
} from '../start/read-start.ts';
import { reservationRequest } from '../start/reserve-turn.ts';
import {
  newMessage,
  regeneratedBy,
  newsOfClient,
  collectTurnContext,
} from '../start/turn-message.ts';
import { leaseFrom } from '../lease.ts';
import { requestCancel } from '../finish/cancel-turn.ts';
import { type Subscribers, createSubscribers, liveTurnKey } from '../live-turn.ts';
import { busyError, shuttingDownError, stillQueuedError } from '../turn-errors.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';

/** How often a turn is looked at whose end is waited for, ms. */
const AWAITED_LOOK_INTERVAL_MS = 250;

/** How often a queued turn is looked at while it waits for a limit to pass, ms. */
const LIMIT_LOOK_MS = 1_000;

/** A live producer ends within a second of a cancellation; a dead one is noticed when its lease has run out. */
const OBEDIENCE_MS = 5_000;

/** A message that waits in the queue, and what comes of it (see `waitInQueue`). */
export interface WaitingTurn {
  seq: number;
  /** Counts a connection that waits with the message until it closes (`left`). */
  subscribe: (left: AbortSignal) => void;
  outcome: Promise<BegunTurn | 'sendAgain'>;
}

/**
 * Waits with a message in the queue: with another request's message, with an abandoned one, or with a new one, which is
 * stored first. Throws what `queueTurn` throws.
 */
export async function joinQueue(
  dependencies: ChatDependencies,
  request: SendRequest,
  state: StartState,
  decision: Extract<StartDecision, { kind: 'waiting' | 'rejoin' | 'enqueue' }>,
): Promise<WaitingTurn> {
  const { seq } = decision;
  const { conversationId } = request;
  switch (decision.kind) {
    case 'waiting':
      return {
        seq,
        // The other request tells of the end; it counts its own connections.
        subscribe: () => undefined,
        outcome: untilNotWaiting(dependencies, { conversationId, seq }),
      };
    case 'rejoin':
      return rejoinQueue(dependencies, request, knownTurn(state));
    case 'enqueue':
      return queueTurn(dependencies, request, state, decision);
  }
}

/**
 * Resolves when a turn with which another request waits has left the queue, or when the lease of that waiter has run
 * out.
 */
async function untilNotWaiting(
  dependencies: ChatDependencies,
  turn: { conversationId: string; seq: number },
): Promise<'sendAgain'> {
  while (!dependencies.shutdown.aborted) {
    const [document] = await readTurnDocuments(dependencies.store, turn.conversationId, [turn.seq]);
    const isQueued = document?.value.state === 'queued';
    // The lease of a waiter that died ends this loop.
    if (!isQueued || document.value.leaseUntil <= dependencies.clock.now()) break;
    await untilNextLook(dependencies, turn);
  }
  return 'sendAgain';
}

/** Becomes the waiter of an abandoned turn of the queue. Throws GuardLostError, StoreUnavailableError. */
async function rejoinQueue(
  dependencies: ChatDependencies,
  request: SendRequest,
  { value: { seq }, updateTime }: TurnDocument,
): Promise<WaitingTurn> {
  const { conversationId } = request;
  const lease = newLease(dependencies);
  const { producer } = lease;
  const writes = [waiterLeaseWrite(conversationId, { seq, updateTime, lease })];
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return startWaiting(dependencies, { request, seq, producer }, 'turn-rejoined');
}

/**
 * Stores a message at the end of the queue, and waits with it. Throws the quota reasons of limits that do not pass
 * soon, CONTEXT_WINDOW_WILL_OVERFLOW, GuardLostError, StoreUnavailableError.
 */
async function queueTurn(
  dependencies: ChatDependencies,
  request: SendRequest,
  state: StartState,
  { seq, replaces }: Extract<StartDecision, { kind: 'enqueue' }>,
): Promise<WaitingTurn> {
  const { conversationId } = request;
  const conversation = storedConversation(state);
  refuseHopeless(dependencies, request, conversation.value);
  const { generation, client } = conversation.value;
  const chosenModel = request.added?.model;
  const model = chosenModel ?? conversation.value.model;
  const lease = newLease(dependencies);
  const { producer, leaseUntil } = lease;
  const message = await newMessage(dependencies, request, { model, replaces });
  // Which context the turns before will have told is not known yet: this one tells all, as of now.
  const turnContext = collectTurnContext(dependencies, request, {
    generation,
    turns: [],
    known: client,
  });
  const shown = shownUser({ ...message, ...turnContext });
  const userTokens = estimateContentTokens(shown, meterCounting(conversation.value));
  await refuseOverDayLimit(dependencies, request, { model, estimatedTokens: userTokens });
  const writes = enqueueWrites({
    conversationId,
    messageId: request.message.id,
    bodyHash: state.facts.bodyHash,
    isFromServer: request.caller.actor !== undefined,
    seq,
    ...message,
    ...turnContext,
    client: newsOfClient(client, request),
    replaces,
    regenerates: regeneratedBy(request, replaces),
    chosenModel,
    userTokens,
    lease,
    now: dependencies.clock.now(),
    conversation,
    queue: queueAfter(state.facts.queue, 0) ?? { first: seq, leaseUntil },
  });
  const named = namedBy(request.caller.uid, { conversationId, seq, user: message.user });
  writes.push(...(await namingWrites(dependencies, named)));
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return startWaiting(dependencies, { request, seq, producer }, 'turn-queued');
}

const newLease = (dependencies: ChatDependencies) => ({
  producer: dependencies.randomness.uuid(),
  leaseUntil: leaseFrom(dependencies),
});

/**
 * Refuses a message before it is stored in the queue where a limit of the day is reached; a limit that passes soon is
 * waited for. Nothing is reserved. Throws quota reasons, StoreUnavailableError.
 */
async function refuseOverDayLimit(
  dependencies: Pick<ChatDependencies, 'quota' | 'config'>,
  request: SendRequest,
  call: { model: string; estimatedTokens: number },
): Promise<void> {
  const wanted = reservationRequest(dependencies, request, { ...call, attempt: 1 });
  try {
    await dependencies.quota.refuse(wanted);
  } catch (error) {
    if (!(error instanceof AppError && isPassingLimit(error))) throw error;
  }
}

/** A request that waits with a queued turn. */
interface Waiter {
  request: SendRequest;
  seq: number;
  audience: Subscribers;
  /** Nonce under which the turn's lease is held. */
  producer: string;
}

function startWaiting(
  dependencies: ChatDependencies,
  turn: Omit<Waiter, 'audience'>,
  crashPoint: 'turn-queued' | 'turn-rejoined',
): WaitingTurn {
  const audience = createSubscribers();
  const outcome = passCrashPoint(dependencies, crashPoint).then(() =>
    waitInQueue(dependencies, { ...turn, audience }),
  );
  return { seq: turn.seq, subscribe: (left) => audience.subscribe(left), outcome };
}

/**
 * Waits until all turns before this one have ended, then begins it. `sendAgain`: the turn was cancelled, closed or
 * taken over meanwhile; sending its message again replays, answers or follows it. Throws why the turn could not begin,
 * TURN_STILL_QUEUED when the turns before it together take longer than they may, and SHUTTING_DOWN; a sender that sends
 * the message again goes on waiting.
 */
async function waitInQueue(
  dependencies: ChatDependencies,
  waiter: Waiter,
): Promise<BegunTurn | 'sendAgain'> {
  const { clock, config } = dependencies;
  const { conversationId } = waiter.request;
  const longestMs = (QUEUE_MAX + 1) * config.TURN_TIMEOUT_MS;
  const endMs = clock.now().getTime() + longestMs;
  while (clock.now().getTime() < endMs) {
    try {
      const outcome = await lookAtQueue(dependencies, waiter);
      if (outcome) return outcome;
    } catch (error) {
      if (!mayBeCommitted(error)) throw error;
      await untilNextLook(dependencies, { conversationId, seq: waiter.seq });
    }
  }
  throw stillQueuedError(`turn ${waiter.seq} of ${conversationId}`);
}

/** One look at the queue and what follows from it; `undefined`: look again. */
async function lookAtQueue(
  dependencies: ChatDependencies,
  waiter: Waiter,
): Promise<BegunTurn | 'sendAgain' | undefined> {
  const { request, producer } = waiter;
  if (dependencies.shutdown.aborted)
    throw shuttingDownError(`queued turn ${waiter.seq} of ${request.conversationId}`);
  const state = await readStart(dependencies, request);
  const { now, conversation, known, open, queue } = state.facts;
  const { TOOL_RESULT_TIMEOUT_MS: toolResultTimeoutMs } = dependencies.config;
  const found = { now, conversation, own: known, producer, open, queue };
  const decision = decideQueued({ ...found, toolResultTimeoutMs });
  switch (decision.kind) {
    case 'sendAgain':
      return 'sendAgain';
    case 'wait':
      await untilPassed(dependencies, waiter, decision.behind);
      return undefined;
    case 'beginQueued':
      return beginQueued(dependencies, waiter, { state, decision });
  }
}

/** Waits until the turn `behind` has ended or holds the queue no more, or the waiter has lost its own turn. */
async function untilPassed(
  dependencies: ChatDependencies,
  waiter: Waiter,
  behind: number,
): Promise<void> {
  const { clock, config, shutdown } = dependencies;
  const { TOOL_RESULT_TIMEOUT_MS: toolResultTimeoutMs } = config;
  const { conversationId } = waiter.request;
  for (;;) {
    await untilNextLook(dependencies, { conversationId, seq: behind });
    if (shutdown.aborted) return;
    const [own, before] = await readTurnDocuments(dependencies.store, conversationId, [
      waiter.seq,
      behind,
    ]);
    if (!(await keepLease(dependencies, waiter, own))) return;
    if (!before || isTerminal(before.value.state)) return;
    if (!holdsQueue(before.value, { now: clock.now(), toolResultTimeoutMs })) return;
  }
}

/** Waits until a limit has passed, or the waiter has lost its own turn. */
async function untilLimitPasses(
  dependencies: ChatDependencies,
  waiter: Waiter,
  waitMs: number,
): Promise<void> {
  const { clock, store, shutdown } = dependencies;
  const { conversationId } = waiter.request;
  for (let leftMs = waitMs; leftMs > 0; leftMs -= LIMIT_LOOK_MS) {
    await clock.wait(Math.min(leftMs, LIMIT_LOOK_MS), shutdown);
    if (shutdown.aborted) return;
    const [own] = await readTurnDocuments(store, conversationId, [waiter.seq]);
    if (!(await keepLease(dependencies, waiter, own))) return;
  }
}

/**
 * Renews the waiter's lease where that is due. False: the turn is not queued any more, or another waiter has it. A
 * waiter that loses the guard finds that out at its next look.
 */
async function keepLease(
  dependencies: ChatDependencies,
  { request, seq, producer }: Waiter,
  own: TurnDocument | undefined,
): Promise<boolean> {
  if (own?.value.state !== 'queued' || own.value.producer !== producer) return false;
  const { clock, config, store } = dependencies;
  const leftMs = own.value.leaseUntil.getTime() - clock.now().getTime();
  if (leftMs > (3 / 4) * config.TURN_LEASE_MS) return true;
  const lease = { producer, leaseUntil: leaseFrom(dependencies) };
  const { updateTime } = own;
  await store.commit([waiterLeaseWrite(request.conversationId, { seq, updateTime, lease })]);
  return true;
}

async function beginQueued(
  dependencies: ChatDependencies,
  waiter: Waiter,
  due: { state: StartState; decision: Extract<QueuedDecision, { kind: 'beginQueued' }> },
): Promise<BegunTurn | undefined> {
  const { request } = waiter;
  const { conversationId } = request;
  if (await closeBeforeBeginning(dependencies, conversationId, due.state)) return undefined;
  try {
    const begun = await beginTurnOnce(dependencies, { request, ...due });
    // As a lost guard: waits, then looks again.
    if (!begun) throw new GuardLostError({ paths: [conversationPath(conversationId)] });
    await passCrashPoint(dependencies, 'queued-turn-begun');
    return begun;
  } catch (error) {
    if (mayBeCommitted(error) || !(error instanceof AppError)) throw error;
    if (isPassingLimit(error)) {
      await untilLimitPasses(dependencies, waiter, error.retryAfterMs ?? 0);
      return undefined;
    }
    const { closes } = due.decision;
    await failQueued(dependencies, waiter, { state: due.state, closes, error });
    // The sender decides whether to send it again.
    throw error;
  }
}

/** Ends the queued turn with the reason why it could not begin, and tells of its end. */
async function failQueued(
  dependencies: ChatDependencies,
  { request, seq, audience }: Waiter,
  failure: { state: StartState; closes: readonly number[]; error: AppError },
): Promise<void> {
  const { state, error } = failure;
  const { status, reason, publicMessage, retryable, retryAfterMs } = error;
  const { conversationId } = request;
  const { value: turn, updateTime: turnUpdateTime } = knownTurn(state);
  await dependencies.store.commit(
    failQueuedWrites({
      conversationId,
      seq,
      turnUpdateTime,
      conversation: storedConversation(state),
      queue: queueAfter(state.facts.queue, seq),
      abandoned: abandonedTurns(state, failure.closes),
      error: { status, reason, message: publicMessage, retryable, retryAfterMs },
      now: dependencies.clock.now(),
    }),
  );
  await passCrashPoint(dependencies, 'queued-turn-failed');
  const ended = { ...turn, state: 'failed' as const, reason };
  const isAttended = audience.present().length > 0;
  const told = publishTurnFinished(dependencies, conversationId, { turn: ended, isAttended });
  addAfterwork(dependencies, told);
  tellAbandoned(dependencies, conversationId, turnsToClose(state, failure.closes));
}

/**
 * Cancels the turns that a new message would have to wait for: first the queued ones, so that none of them begins
 * meanwhile. Resolves when each has ended or is abandoned; nothing of the new message is stored by then. Throws
 * TURN_IN_PROGRESS when one goes on for longer than a lease.
 */
export async function interruptTurns(
  dependencies: ChatDependencies,
  conversationId: string,
  { seqs, retryAfterMs }: { seqs: readonly number[]; retryAfterMs: number },
): Promise<void> {
  const { clock, config, store, shutdown } = dependencies;
  for (const seq of seqs) await requestCancel(dependencies, { conversationId, seq });
  await passCrashPoint(dependencies, 'turns-interrupted');
  const endMs = clock.now().getTime() + config.TURN_LEASE_MS + OBEDIENCE_MS;
  for (;;) {
    const documents = await readTurnDocuments(store, conversationId, seqs);
    const working = documents.find(
      (turn) => turn && !isTerminal(turn.value.state) && turn.value.leaseUntil > clock.now(),
    );
    if (!working) return;
    if (shutdown.aborted) throw shuttingDownError('an interruption was given up');
    const { seq } = working.value;
    if (clock.now().getTime() >= endMs) throw busyError({ seq, retryAfterMs });
    await untilNextLook(dependencies, { conversationId, seq });
  }
}

/**
 * Resolves when it is time for the next look: after an interval, or at once when this instance ends the turn or shuts
 * down.
 */
async function untilNextLook(
  dependencies: Pick<ChatDependencies, 'clock' | 'liveTurns' | 'shutdown'>,
  turn: { conversationId: string; seq: number },
): Promise<void> {
  const live = dependencies.liveTurns.get(liveTurnKey(turn.conversationId, turn.seq));
  const ended = new AbortController();
  const stop = () => ended.abort();
  live?.result.then(stop, stop);
  const signal = AbortSignal.any([ended.signal, dependencies.shutdown]);
  await dependencies.clock.wait(AWAITED_LOOK_INTERVAL_MS, signal);
}
