import { closeExpiredWrite } from '../../../../shared/conversation/turn-writes.ts';
import { decideStart, type StartDecision } from '../../../../shared/conversation/start-decision.ts';
import { GuardLostError } from '../../../../shared/errors.ts';
import { beginTurn } from './begin-turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { followTurn } from '../stream/follow-turn.ts';
import { interruptTurns } from './interrupt-turns.ts';
import { liveTurnKey } from '../answer/live-turn.ts';
import { readStart, type StartState } from './read-start.ts';
import { followQueued, queueTurn, rejoinQueue } from './queue-turn.ts';
import { replayHandle } from '../stream/replay-turn.ts';
import { contentionError } from './send-errors.ts';
import type { SendHandle, SendRequest } from './send-request.ts';
import { liveHandle, startProduction } from '../answer/start-production.ts';
import { refusalOf } from './start-refusal.ts';
import { shuttingDownError } from '../stream/stream-cut.ts';

/** A start reads again at most this often when others win its guard. */
const START_TRIES = 30;
const START_RETRY_MS = 10;
const START_RETRY_MAX_MS = 100;

async function giveUp(dependencies: ChatDependencies, request: SendRequest, state: StartState) {
  if (!state.known) return;
  const { updateTime, value } = state.known;
  const { seq, cancelRequested } = value;
  const now = dependencies.clock.now();
  await dependencies.store.commit([
    closeExpiredWrite(request.conversationId, { seq, updateTime, cancelRequested, now }),
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
    case 'keyReused':
    case 'busy':
    case 'queueFull':
    case 'retryLater':
    case 'targetNotFound':
    case 'notUserMessage':
    case 'notLastAnswer':
    case 'tooFarBack':
      throw refusalOf(request, decision, state);
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
    case 'waiting':
      return followQueued(dependencies, { request, state, seq: decision.seq, sendMessage });
    case 'rejoin':
      return rejoinQueue(dependencies, { request, state, seq: decision.seq, sendMessage });
    case 'enqueue':
      return queueTurn(dependencies, { request, state, decision, sendMessage });
    case 'interrupt':
      await interruptTurns(dependencies, conversationId, decision);
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
 * the same live stream; queued → waited with; done → the stored answer; abandoned → taken over. An edit
 * and a regeneration are starts that replace earlier turns.
 * Throws AppError for all that is decided before the first byte: NOT_FOUND, TURN_IN_PROGRESS,
 * MESSAGE_NOT_FOUND, NOT_A_USER_MESSAGE, NOT_THE_LAST_ANSWER, EDIT_TOO_FAR_BACK, IDEMPOTENCY_KEY_REUSED,
 * CONTEXT_WINDOW_WILL_OVERFLOW, quota reasons, STORE_UNAVAILABLE, SHUTTING_DOWN.
 */
export async function sendMessage(
  dependencies: ChatDependencies,
  request: SendRequest,
): Promise<SendHandle> {
  if (dependencies.shutdown.aborted) throw shuttingDownError('a message was refused');
  for (let tries = 0; tries < START_TRIES; tries++) {
    const state = await readStart(dependencies, request);
    const decision = decideStart(state.facts);
    try {
      const handle = await carryOut(dependencies, request, { decision, state });
      if (handle) return handle;
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
      await dependencies.clock.wait(Math.min(START_RETRY_MAX_MS, START_RETRY_MS * tries));
    }
  }
  throw contentionError(request.conversationId, START_TRIES);
}
