import { headPath, turnId, turnPath } from '../../../../shared/conversation/paths.ts';
import {
  isTerminal,
  readTurnDocument,
  type Turn,
  type TurnDocument,
} from '../../../../shared/conversation/turn.ts';
import { AppError, GuardLostError, StoreUnavailableError } from '../../../../shared/errors.ts';
import type { Caller, Write } from '../../../../shared/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { passCrashPoint } from '../crash-points.ts';
import { liveTurnKey } from './live-turn.ts';
import { notFoundError } from '../not-found.ts';
import { readOwnTurn } from '../stream/read-turn.ts';

/** How often a cancellation is tried when others write to the turn at the same time, and the waits between. */
const CANCEL_TRIES = 25;
const CANCEL_RETRY_MS = 10;
const CANCEL_RETRY_MAX_MS = 100;

/** How long the answer to a cancellation waits for a producer in this process to end, ms. */
const CANCEL_WAIT_MS = 2_000;

/**
 * Frames of a turn that never began: start, context, abort and finish, counted from 0. Nobody has seen any.
 */
const UNBEGUN_LAST_FRAME_ID = 3;

const finishedError = ({ seq, state }: Turn) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'TURN_FINISHED',
    message: `turn ${seq} is ${state}; it cannot be cancelled`,
    publicMessage: 'This turn has ended already. There is nothing to cancel.',
    metadata: { turnId: turnId(seq), state },
  });

/** A running turn under a lease: its producer ends it. */
const requestWrite = (path: string, updateTime: string): Write => ({
  op: 'update',
  path,
  fields: { cancelRequested: true },
  guard: { updateTime },
});

/** A turn that nobody answers: it ends here. */
const endWrite = (
  path: string,
  turn: { updateTime: string; now: Date; lastFrameId?: number },
): Write => ({
  op: 'update',
  path,
  fields: {
    state: 'cancelled',
    cancelRequested: true,
    // Nobody's any more: a producer that comes back, or one who waits with it, finds it lost.
    producer: '',
    finishTime: turn.now,
    inContext: false,
    lastFrameId: turn.lastFrameId,
  },
  guard: { updateTime: turn.updateTime },
});

/** What cancels the turn as it was read; no writes when nothing is left to do. */
function cancelWrites(conversationId: string, turn: TurnDocument, now: Date): Write[] {
  const { state, seq, leaseUntil, cancelRequested } = turn.value;
  const { updateTime } = turn;
  const path = turnPath(conversationId, seq);
  switch (state) {
    case 'queued':
      return [endWrite(path, { updateTime, now, lastFrameId: UNBEGUN_LAST_FRAME_ID })];
    case 'running':
    case 'awaiting_tool':
      if (leaseUntil > now) return cancelRequested ? [] : [requestWrite(path, updateTime)];
      // As a finish does: guarded by the turn, which is the open one as long as it runs.
      return [
        endWrite(path, { updateTime, now }),
        {
          op: 'update',
          path: headPath(conversationId),
          fields: { updateTime: now },
          remove: ['open'],
          guard: { exists: true },
        },
      ];
    case 'done':
    case 'failed':
    case 'cancelled':
      return [];
  }
}

/**
 * Cancels a turn: its producer here at once, one of another instance within a second, and whoever takes
 * the turn over later closes it without asking the model. One that waits, or that nobody answers any more,
 * is cancelled when this resolves. A finished one stays as it is.
 * Throws NOT_FOUND, GuardLostError when others won every try, StoreUnavailableError.
 */
export async function requestCancel(
  dependencies: ChatDependencies,
  of: { conversationId: string; seq: number },
): Promise<void> {
  const { store, clock, liveTurns } = dependencies;
  const { conversationId, seq } = of;
  liveTurns.get(liveTurnKey(conversationId, seq))?.cancel();
  await passCrashPoint(dependencies, 'before-cancel');
  for (let tries = 1; ; tries++) {
    const [document] = await store.get([turnPath(conversationId, seq)]);
    if (!document) throw notFoundError(conversationId);
    const turn = readTurnDocument(conversationId, document);
    const writes = cancelWrites(conversationId, turn, clock.now());
    if (writes.length === 0) return;
    try {
      await store.commit(writes);
      return await passCrashPoint(dependencies, 'cancel-stored');
    } catch (error) {
      const isOpen = error instanceof GuardLostError || error instanceof StoreUnavailableError;
      if (!isOpen || tries >= CANCEL_TRIES) throw error;
      await clock.wait(Math.min(CANCEL_RETRY_MAX_MS, CANCEL_RETRY_MS * (tries - 1)));
    }
  }
}

/** Waits for a producer in this process, so that the answer can show how the turn ended. */
async function untilEnded(
  { liveTurns, clock }: ChatDependencies,
  of: { conversationId: string; seq: number },
): Promise<void> {
  const live = liveTurns.get(liveTurnKey(of.conversationId, of.seq));
  if (!live) return;
  const timer = new AbortController();
  const ended = live.result.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([ended, clock.wait(CANCEL_WAIT_MS, timer.signal)]);
  timer.abort();
}

/**
 * Cancels a caller's turn and returns it as it stands then: cancelled, or, when another instance answers
 * it, running with `cancelRequested`. Cancelling a cancelled turn changes nothing.
 * Throws NOT_FOUND, TURN_NOT_FOUND, TURN_FINISHED (400) for a turn that was answered or has failed.
 */
export async function cancelTurn(
  dependencies: ChatDependencies,
  of: { caller: Caller; conversationId: string; turnId: string },
): Promise<Turn> {
  const { conversationId } = of;
  const before = (await readOwnTurn(dependencies, of)).turn.value;
  if (!isTerminal(before.state)) {
    const { seq } = before;
    const ended = untilEnded(dependencies, { conversationId, seq });
    await requestCancel(dependencies, { conversationId, seq });
    await ended;
  }
  const turn = (await readOwnTurn(dependencies, of)).turn.value;
  if (turn.state === 'done' || turn.state === 'failed') throw finishedError(turn);
  return turn;
}
