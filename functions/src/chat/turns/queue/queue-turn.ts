import {
  decideQueued,
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
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { namedBy, namingWrites } from '#functions/chat/features/uploads.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { shownUser, isTerminal, type TurnDocument } from '#shared/conversation/documents/turn.ts';
import { AppError, GuardLostError, mayBeCommitted } from '#shared/lib/errors.ts';
import { isPassingLimit } from '#shared/quota/quota-error.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { SendRequest } from '../send/send-request.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { commitStart, beginTurn } from '../start/begin-turn.ts';
import { refuseHopeless } from '../start/overflow.ts';
import { type StartState, abandonedTurns, readStart } from '../start/read-start.ts';
import { reservationRequest } from '../start/reserve-turn.ts';
import {
  storedMessage,
  regeneratedBy,
  newsOfClient,
  collectTurnContext,
} from '../start/turn-message.ts';
import { leaseFrom } from '../answer/turn-writer.ts';
import { endStopped, requestCancel } from '../finish/cancel-turn.ts';
import { liveTurnKey } from '../live/live-turn.ts';
import { busyError } from '../send/send-errors.ts';
import { shuttingDownError, stillQueuedError } from '../turn-errors.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';

/** How often a turn that somebody waits for is looked at. */
const AWAITED_LOOK_INTERVAL_MS = 250;

/** How often a turn is looked at that waits for a limit to pass, ms. */
const LIMIT_LOOK_MS = 1_000;

/** A producer that lives obeys within a second; one that does not is noticed by its lease. */
const OBEDIENCE_MS = 5_000;

interface Queued {
  request: SendRequest;
  state: StartState;
}

/** A message that waits, and what comes of it, as `waitInQueue` says. */
export interface WaitingTurn {
  seq: number;
  begun: Promise<BegunTurn | 'gone'>;
}

/**
 * Waits with a message: with one that another request waits with, with one that was abandoned, or with a new one.
 * Undefined: what was read does not fit together. Throws what `queueTurn` throws.
 */
export async function joinQueue(
  dependencies: ChatDependencies,
  {
    decision,
    ...queued
  }: Queued & { decision: Extract<StartDecision, { kind: 'waiting' | 'rejoin' | 'enqueue' }> },
): Promise<WaitingTurn | undefined> {
  const { seq } = decision;
  const { conversationId } = queued.request;
  switch (decision.kind) {
    case 'waiting':
      return { seq, begun: untilBegun(dependencies, { conversationId, seq }) };
    case 'rejoin':
      return rejoinQueue(dependencies, queued, seq);
    case 'enqueue':
      return queueTurn(dependencies, queued, decision);
  }
}

/** Resolves when a turn that another request waits with waits no more, or nobody waits with it. */
async function untilBegun(
  dependencies: ChatDependencies,
  turn: { conversationId: string; seq: number },
): Promise<'gone'> {
  while (!dependencies.shutdown.aborted) {
    const [document] = await readTurnDocuments(dependencies.store, turn.conversationId, [turn.seq]);
    const isQueued = document?.value.state === 'queued';
    // A lease that nobody renews ends this loop.
    if (!isQueued || document.value.leaseUntil <= dependencies.clock.now()) break;
    await untilNextLook(dependencies, turn);
  }
  return 'gone';
}

/** Waits with a queued message that was abandoned. Throws GuardLostError, StoreUnavailableError. */
async function rejoinQueue(
  dependencies: ChatDependencies,
  { request, state: { known } }: Queued,
  seq: number,
): Promise<WaitingTurn | undefined> {
  const { conversationId } = request;
  if (!known) return undefined;
  const lease = newLease(dependencies);
  const { producer } = lease;
  const { updateTime } = known;
  const writes = [waiterLeaseWrite(conversationId, { seq, updateTime, lease })];
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return startWaiting(dependencies, { request, seq, producer }, 'turn-rejoined');
}

/**
 * Stores a message behind those that are being answered or wait, and waits with it. Throws the quota reasons of limits
 * that it cannot wait for, CONTEXT_WINDOW_WILL_OVERFLOW, GuardLostError, StoreUnavailableError.
 */
async function queueTurn(
  dependencies: ChatDependencies,
  { request, state }: Queued,
  { seq, replaces }: Extract<StartDecision, { kind: 'enqueue' }>,
): Promise<WaitingTurn> {
  refuseHopeless(dependencies, request, state.conversation);
  const { conversationId } = request;
  if (!state.conversation)
    throw new Error('a message waits behind others, so there is a conversation');
  const { value: conversation } = state.conversation;
  const { generation, client } = conversation;
  const chosenModel = request.added?.model;
  const model = chosenModel ?? conversation.model;
  const lease = newLease(dependencies);
  const { producer, leaseUntil } = lease;
  const message = await storedMessage(dependencies, request, {
    model,
    storedSeq: replaces ?? seq,
    isNew: true,
  });
  // What the turns before will have told is not known yet: all is told, with the time at which it was said.
  const turnContext = collectTurnContext(dependencies, request, {
    generation,
    turns: [],
    known: client,
  });
  const shown = shownUser({ ...message, ...turnContext });
  const userTokens = estimateContentTokens(shown, meterCounting(conversation));
  await refuseOverDayLimit(dependencies, request, { model, estimatedTokens: userTokens });
  const writes = enqueueWrites({
    conversationId,
    messageId: request.message.id,
    bodyHash: state.facts.bodyHash,
    seq,
    ...message,
    ...turnContext,
    client: newsOfClient(client, request),
    replaces,
    regenerates: regeneratedBy(request, replaces),
    model: chosenModel,
    userTokens,
    lease,
    now: dependencies.clock.now(),
    conversation: state.conversation,
    queue: queueAfter(state.facts.queue, 0) ?? { first: seq, leaseUntil },
  });
  const named = namedBy({ conversationId, seq, user: message.user });
  writes.push(...(await namingWrites(dependencies, named)));
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return startWaiting(dependencies, { request, seq, producer }, 'turn-queued');
}

const newLease = (dependencies: ChatDependencies) => ({
  producer: dependencies.randomness.uuid(),
  leaseUntil: leaseFrom(dependencies),
});

/**
 * Refuses a message that is to wait in the queue, before anything is stored, where a limit stands in its way that it
 * cannot wait for: one of the day. Nothing is reserved. Throws quota reasons, StoreUnavailableError.
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

/** Who waits with a queued turn. */
interface Waiter {
  request: SendRequest;
  seq: number;
  /** Nonce under which the turn's lease is held. */
  producer: string;
}

function startWaiting(
  dependencies: ChatDependencies,
  waiter: Waiter,
  crashPoint: 'turn-queued' | 'turn-rejoined',
): WaitingTurn {
  const begun = passCrashPoint(dependencies, crashPoint).then(() =>
    waitInQueue(dependencies, waiter),
  );
  return { seq: waiter.seq, begun };
}

/**
 * Waits with a queued turn until it is its turn, then begins it. `gone`: the turn was cancelled, closed or taken over
 * meanwhile; sending its message again replays, answers or follows it.
 * Throws why it could not begin, TURN_STILL_QUEUED when all before it together take longer than they may, and
 * SHUTTING_DOWN; who sends the message again goes on waiting.
 */
async function waitInQueue(
  dependencies: ChatDependencies,
  waiter: Waiter,
): Promise<BegunTurn | 'gone'> {
  const { clock, config } = dependencies;
  const { conversationId } = waiter.request;
  const longestMs = (QUEUE_MAX + 1) * config.TURN_TIMEOUT_MS;
  const endMs = clock.now().getTime() + longestMs;
  while (clock.now().getTime() < endMs) {
    try {
      const begun = await look(dependencies, waiter);
      if (begun) return begun;
    } catch (error) {
      if (!mayBeCommitted(error)) throw error;
      await untilNextLook(dependencies, { conversationId, seq: waiter.seq });
    }
  }
  throw stillQueuedError(`turn ${waiter.seq} of ${conversationId}`);
}

/** One look at the queue and what follows from it; `undefined`: look again. */
async function look(
  dependencies: ChatDependencies,
  waiter: Waiter,
): Promise<BegunTurn | 'gone' | undefined> {
  const { request, producer } = waiter;
  if (dependencies.shutdown.aborted)
    throw shuttingDownError(`queued turn ${waiter.seq} of ${request.conversationId}`);
  const state = await readStart(dependencies, request);
  const { now, conversation, known, open, queue } = state.facts;
  const decision = decideQueued({ now, conversation, own: known, producer, open, queue });
  switch (decision.kind) {
    case 'gone':
      return 'gone';
    case 'wait':
      await untilPassed(dependencies, waiter, decision.behind);
      return undefined;
    case 'beginQueued':
      return beginQueued(dependencies, waiter, { state, decision });
  }
}

/** Waits until the turn `behind` has ended or is abandoned, or the own one is nobody's to wait with. */
async function untilPassed(
  dependencies: ChatDependencies,
  waiter: Waiter,
  behind: number,
): Promise<void> {
  const { conversationId } = waiter.request;
  for (;;) {
    await untilNextLook(dependencies, { conversationId, seq: behind });
    if (dependencies.shutdown.aborted) return;
    const [own, before] = await readTurnDocuments(dependencies.store, conversationId, [
      waiter.seq,
      behind,
    ]);
    if (!(await keepLease(dependencies, waiter, own))) return;
    if (!before || isTerminal(before.value.state)) return;
    if (before.value.leaseUntil <= dependencies.clock.now()) return;
  }
}

/** Waits until a limit has passed, or the own turn is nobody's to wait with. */
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
 * Keeps the lease of the waiting turn; false: it is not this waiter's to wait with any more. Who loses the guard finds
 * out at the next look.
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
  if (await endStopped(dependencies, conversationId, due.state)) return undefined;
  try {
    const begun = await beginTurn(dependencies, { request, ...due });
    // Looked at again after a while.
    if (!begun) throw new GuardLostError({ paths: [conversationPath(conversationId)] });
    await passCrashPoint(dependencies, 'queued-turn-begun');
    return begun;
  } catch (error) {
    if (mayBeCommitted(error) || !(error instanceof AppError)) throw error;
    if (isPassingLimit(error)) {
      await untilLimitPasses(dependencies, waiter, error.retryAfterMs ?? 0);
      return undefined;
    }
    const { abandoned } = due.decision;
    await failQueued(dependencies, waiter, { state: due.state, abandoned, error });
    // Not sent again by itself: whoever sent it decides.
    throw error;
  }
}

/** Stores why a waiting message could not be answered when its turn came. */
async function failQueued(
  dependencies: ChatDependencies,
  { request, seq }: Waiter,
  failure: { state: StartState; abandoned: readonly number[]; error: AppError },
): Promise<void> {
  const { state, error } = failure;
  if (!state.conversation || !state.known) return;
  const { status, reason, publicMessage, retryable, retryAfterMs } = error;
  await dependencies.store.commit(
    failQueuedWrites({
      conversationId: request.conversationId,
      seq,
      turnUpdateTime: state.known.updateTime,
      conversation: state.conversation,
      queue: queueAfter(state.facts.queue, seq),
      abandoned: abandonedTurns(state, failure.abandoned),
      error: { status, reason, message: publicMessage, retryable, retryAfterMs },
      now: dependencies.clock.now(),
    }),
  );
  await passCrashPoint(dependencies, 'queued-turn-failed');
}

/**
 * Cancels the turns that stand in a new message's way, those that wait first, so that none of them begins
 * meanwhile. Resolves when each has ended or has been abandoned; nothing of the new message is stored by
 * then. Throws TURN_IN_PROGRESS when one goes on for longer than a lease.
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
 * Resolves after a look's interval, or at once when the turn ends that this instance is answering, or the
 * process does.
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
