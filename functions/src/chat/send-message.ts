import { closeExpiredWrite } from '../../../shared/conversation/turn-writes.ts';
import { turnId } from '../../../shared/conversation/paths.ts';
import { readTurns } from '../../../shared/conversation/read-conversation.ts';
import { decideStart, type StartDecision } from '../../../shared/conversation/start-decision.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';
import { AppError, GuardLostError } from '../../../shared/errors.ts';
import type { StreamFrame } from '../../../shared/wire/stream.ts';
import { beginTurn, contentionError, type BegunTurn } from './begin-turn.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { followTurn } from './follow-turn.ts';
import { createFrameLog, liveTurnKey, type FinishedTurn, type LiveTurn } from './live-turn.ts';
import { produceTurn } from './produce-turn.ts';
import { readStart, type StartState } from './read-start.ts';
import { notFoundError } from './not-found.ts';
import type { SendHandle, SendRequest } from './send-request.ts';
import { userContent } from './send-request.ts';
import { replayChunks } from './turn-frames.ts';
import { viewContext } from './view-context.ts';

/** A start reads again at most this often when others win its guard. */
const START_TRIES = 10;
const START_RETRY_MS = 20;

const turnErrorOf = (turn: Turn): AppError | undefined =>
  turn.error &&
  new AppError({
    status: turn.error.status,
    reason: turn.error.reason,
    message: `turn ${turn.seq} is stored as failed: ${turn.error.reason}`,
    publicMessage: turn.error.message,
    retryable: turn.error.retryable,
  });

/** A failed turn rejects; readers of the stream see its error frames instead. */
function orFailure(finished: FinishedTurn): FinishedTurn {
  const error = turnErrorOf(finished.turn);
  if (error) throw error;
  return finished;
}

function settled<T>(promise: Promise<T>): Promise<T> {
  // A stream reader may never ask for the result; its rejection must not end the process.
  promise.catch(() => undefined);
  return promise;
}

function liveHandle(
  request: SendRequest,
  live: LiveTurn,
  turn: { seq: number; generation: number },
): SendHandle {
  return {
    turnId: turnId(turn.seq),
    conversationId: request.conversationId,
    generation: turn.generation,
    replayed: false,
    frames: () => live.frames(),
    result: settled(live.result.then(orFailure)),
  };
}

function startProduction(
  dependencies: ChatDependencies,
  request: SendRequest,
  begun: BegunTurn,
): SendHandle {
  const { conversationId, seq, attempt } = begun.attempt;
  const key = liveTurnKey(conversationId, seq);
  const log = createFrameLog();
  const result = produceTurn(dependencies, {
    begun,
    messageId: request.message.id,
    user: userContent(request),
    locale: request.locale,
    live: log,
  }).finally(() => {
    if (dependencies.liveTurns.get(key)?.attempt === attempt) dependencies.liveTurns.delete(key);
  });
  const live: LiveTurn = { ...log, attempt, result: settled(result) };
  dependencies.liveTurns.set(key, live);
  return liveHandle(request, live, { seq, generation: begun.head.generation });
}

async function replayHandle(
  dependencies: ChatDependencies,
  request: SendRequest,
  replay: { state: StartState; seq: number },
): Promise<SendHandle> {
  const { conversationId, locale } = request;
  const [stored] = await readTurns(dependencies.store, conversationId, [replay.seq]);
  const head = replay.state.head?.value;
  if (!stored || !head) throw notFoundError(conversationId);
  const turn = stored.value;
  const { tokens, source: tokensSource } = head.context;
  const { job } = replay.state;
  const context = viewContext(dependencies, { head, tokens, tokensSource, job, locale });
  const chunks = replayChunks({ conversationId, turn, context });
  async function* frames(): AsyncIterable<StreamFrame> {
    for (const [id, chunk] of chunks.entries()) yield await Promise.resolve({ id, chunk });
  }
  const finished = Promise.resolve({ turn, context, replayed: true });
  return {
    turnId: turnId(turn.seq),
    conversationId,
    generation: context.generation,
    replayed: true,
    frames,
    result: settled(finished.then(orFailure)),
  };
}

async function giveUp(dependencies: ChatDependencies, request: SendRequest, state: StartState) {
  if (!state.known) return;
  const { updateTime, value } = state.known;
  const now = dependencies.clock.now();
  await dependencies.store.commit([
    closeExpiredWrite(request.conversationId, { seq: value.seq, updateTime, now }),
  ]);
}

const busyError = (conversationId: string, decision: { seq: number; retryAfterMs: number }) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_IN_PROGRESS',
    message: `turn ${decision.seq} of ${conversationId} is being answered`,
    publicMessage:
      'Another message of this conversation is being answered. Wait for it, then send this one again.',
    retryable: true,
    retryAfterMs: decision.retryAfterMs,
    metadata: { turnId: turnId(decision.seq) },
  });

const keyReusedError = (conversationId: string, messageId: string) =>
  new AppError({
    status: 'ALREADY_EXISTS',
    reason: 'IDEMPOTENCY_KEY_REUSED',
    message: `message id ${messageId} of ${conversationId} is known with another body`,
    publicMessage:
      'message.id was already used for another message of this conversation. Draw a new id for a new message.',
    metadata: { field: 'message.id' },
  });

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
