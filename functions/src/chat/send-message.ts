import { closeExpiredWrite } from '../../../shared/conversation/turn-writes.ts';
import { decideStart, type StartDecision } from '../../../shared/conversation/start-decision.ts';
import { GuardLostError } from '../../../shared/errors.ts';
import { beginTurn } from './begin-turn.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { followTurn } from './follow-turn.ts';
import { liveTurnKey } from './live-turn.ts';
import { readStart, type StartState } from './read-start.ts';
import { notFoundError } from './not-found.ts';
import { replayHandle, turnErrorOf } from './replay-turn.ts';
import { busyError, contentionError, keyReusedError } from './send-errors.ts';
import type { SendHandle, SendRequest } from './send-request.ts';
import { liveHandle, startProduction } from './start-production.ts';

/** A start reads again at most this often when others win its guard. */
const START_TRIES = 10;
const START_RETRY_MS = 20;

/** The stored failure again, with what is left of the time to wait. */
function notYetError(
  { known }: StartState,
  { seq, retryAfterMs }: { seq: number; retryAfterMs: number },
) {
  const error = known?.value.error && { ...known.value.error, retryAfterMs };
  return turnErrorOf({ seq, error }) ?? new Error(`turn ${seq} has no error to repeat`);
}

async function giveUp(dependencies: ChatDependencies, request: SendRequest, state: StartState) {
  if (!state.known) return;
  const { updateTime, value } = state.known;
  const now = dependencies.clock.now();
  await dependencies.store.commit([
    closeExpiredWrite(request.conversationId, { seq: value.seq, updateTime, now }),
  ]);
}

/** Carries a decision out. `undefined`: what was read is no longer true, read again. */
async function carryOut(
  dependencies: ChatDependencies,
  request: SendRequest,
  { decision, state }: { decision: StartDecision; state: StartState },
): Promise<SendHandle | undefined> {
  const { conversationId } = request;
  switch (decision.kind) {
    case 'notFound':
      throw notFoundError(conversationId);
    case 'keyReused':
      throw keyReusedError(conversationId, request.message.id);
    case 'busy':
      throw busyError(conversationId, decision);
    case 'retryLater':
      throw notYetError(state, decision);
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
      await giveUp(dependencies, request, state);
      return undefined;
    case 'start':
    case 'takeOver': {
      const begun = await beginTurn(dependencies, { request, state, decision });
      return begun && startProduction(dependencies, request, begun);
    }
  }
}

/**
 * Attach or create: a message id becomes one turn, whatever is retried. New → a turn starts; running →
 * the same live stream; done → the stored answer; abandoned → taken over.
 * Throws AppError for all that is decided before the first byte: NOT_FOUND, TURN_IN_PROGRESS,
 * IDEMPOTENCY_KEY_REUSED, CONTEXT_WINDOW_WILL_OVERFLOW, quota reasons, STORE_UNAVAILABLE.
 */
export async function sendMessage(
  dependencies: ChatDependencies,
  request: SendRequest,
): Promise<SendHandle> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    const state = await readStart(dependencies, request);
    const decision = decideStart(state.facts);
    try {
      const handle = await carryOut(dependencies, request, { decision, state });
      if (handle) return handle;
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
      await dependencies.clock.wait(START_RETRY_MS * tries);
    }
  }
  throw contentionError(request.conversationId, START_TRIES);
}
