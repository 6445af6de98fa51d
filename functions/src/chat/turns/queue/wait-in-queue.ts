import { conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  decideQueued,
  queueAfter,
  QUEUE_MAX,
  type QueuedDecision,
} from '#shared/conversation/decisions/queue-decision.ts';
import { failQueuedWrites, waiterLeaseWrite } from '#shared/conversation/writes/queue-writes.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal, type TurnDocument } from '#shared/conversation/documents/turn.ts';
import { AppError, GuardLostError, mayBeCommitted } from '#shared/errors.ts';
import { isPassingLimit } from '#shared/quota/quota-error.ts';
import { beginTurn } from '../start/begin-turn.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { endStopped } from './end-stopped.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { abandonedTurns, readStart, type StartState } from '../start/read-start.ts';
import type { SendRequest } from '../send/send-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { shuttingDownError, stillQueuedError } from '../stream/stream-cut.ts';
import { untilNextLook } from './watch-turns.ts';
import { leaseFrom } from '../store/turn-store.ts';

/** Who waits with a queued turn. */
interface Waiter {
  request: SendRequest;
  seq: number;
  /** Nonce under which the turn's lease is held. */
  producer: string;
}

/** How often a turn is looked at that waits for a limit to pass, ms. */
const LIMIT_LOOK_MS = 1_000;

/**
 * Keeps the lease of the waiting turn; false: it is not this waiter's to wait with any more. Who loses the guard finds
 * out at the next look.
 */
async function keep(
  dependencies: ChatDependencies,
  waiter: Waiter,
  own: TurnDocument | undefined,
): Promise<boolean> {
  if (own?.value.state !== 'queued' || own.value.producer !== waiter.producer) return false;
  const { clock, config, store } = dependencies;
  const leftMs = own.value.leaseUntil.getTime() - clock.now().getTime();
  if (leftMs > (3 / 4) * config.TURN_LEASE_MS) return true;
  const lease = { producer: waiter.producer, leaseUntil: leaseFrom(dependencies) };
  const { seq } = waiter;
  const { updateTime } = own;
  const { conversationId } = waiter.request;
  await store.commit([waiterLeaseWrite(conversationId, { seq, updateTime, lease })]);
  return true;
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
    if (!(await keep(dependencies, waiter, own))) return;
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
    if (!(await keep(dependencies, waiter, own))) return;
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

async function beginQueued(
  dependencies: ChatDependencies,
  waiter: Waiter,
  due: { state: StartState; decision: Extract<QueuedDecision, { kind: 'beginQueued' }> },
): Promise<BegunTurn | undefined> {
  const { state, decision } = due;
  const { request } = waiter;
  const { conversationId } = request;
  if (await endStopped(dependencies, conversationId, state)) return undefined;
  try {
    const begun = await beginTurn(dependencies, { request, state, decision });
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
    await failQueued(dependencies, waiter, { state, abandoned: decision.abandoned, error });
    // Not sent again by itself: whoever sent it decides.
    throw error;
  }
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

/**
 * Waits with a queued turn until it is its turn, then begins it. `gone`: the turn was cancelled, closed or taken over
 * meanwhile; sending its message again replays, answers or follows it.
 * Throws why it could not begin, TURN_STILL_QUEUED when all before it together take longer than they may, and
 * SHUTTING_DOWN; who sends the message again goes on waiting.
 */
export async function waitInQueue(
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
