import { closeTurnWrites } from '#shared/conversation/writes/abandoned-turns.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { endedBy } from '#functions/events/publish-turn-event.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { settlesWithin } from '#functions/lib/deadline.ts';
import { waitAfterLost } from '#functions/lib/retry.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { turnId, turnPath } from '#shared/conversation/documents/paths.ts';
import { type Turn, type TurnDocument, isTerminal } from '#shared/conversation/documents/turn.ts';
import { AppError, mayBeCommitted } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { liveTurnKey } from '../live-turn.ts';
import { readOwnTurn } from '../stream/read-turn.ts';
import { closeCancelled, tellClosed } from './close-turn.ts';

/** How often a cancellation is tried that loses its guard. */
const CANCEL_TRIES = 25;

/** How long the answer to a cancellation waits for a producer in this process to end, ms. */
const CANCEL_WAIT_MS = 2_000;

/** Frames of a turn that never began: start, context, abort and finish, counted from 0. No reader has seen any. */
const UNBEGUN_LAST_FRAME_ID = 3;

/**
 * Cancels a caller's turn and returns it as it stands then: cancelled, or, when another instance answers
 * it, running with `cancelRequested`. A cancelled turn stays as it is.
 * Throws NOT_FOUND, TURN_NOT_FOUND, TURN_FINISHED (400) for a turn that was answered or has failed.
 */
export async function cancelTurn(
  dependencies: ChatDependencies,
  target: { caller: Caller; conversationId: string; turnId: string },
): Promise<Turn> {
  const { conversationId } = target;
  const before = (await readOwnTurn(dependencies, target)).turn.value;
  if (!isTerminal(before.state)) {
    const { seq } = before;
    const ended = untilEnded(dependencies, { conversationId, seq });
    await requestCancel(dependencies, { conversationId, seq });
    await ended;
  }
  const turn = (await readOwnTurn(dependencies, target)).turn.value;
  if (turn.state === 'done' || turn.state === 'failed')
    throw new AppError({
      reason: 'TURN_FINISHED',
      publicMessage: 'This turn has ended already. There is nothing to cancel.',
      metadata: { turnId: turnId(turn.seq), state: turn.state },
    });
  return turn;
}

/** Waits for a producer in this process, so that the answer can show how the turn ended. */
async function untilEnded(
  { liveTurns, clock }: ChatDependencies,
  target: { conversationId: string; seq: number },
): Promise<void> {
  const live = liveTurns.get(liveTurnKey(target.conversationId, target.seq));
  if (!live) return;
  await settlesWithin(clock, CANCEL_WAIT_MS, Promise.allSettled([live.result]));
}

/**
 * Cancels a turn. A producer at this instance stops at once, one at another instance within a second; if that one has
 * died, the next send closes the turn without asking the model. A turn that waits or is abandoned is cancelled when
 * this resolves; what it had said and stored so far stays. An ended turn stays as it is. Throws NOT_FOUND,
 * GuardLostError when every try lost its guard, StoreUnavailableError.
 */
export async function requestCancel(
  dependencies: ChatDependencies,
  target: { conversationId: string; seq: number },
): Promise<void> {
  const { store, clock, liveTurns } = dependencies;
  const { conversationId, seq } = target;
  liveTurns.get(liveTurnKey(conversationId, seq))?.cancel();
  await passCrashPoint(dependencies, 'before-cancel');
  // Not `retry`: only a failed commit is tried again; a read that fails ends the request.
  for (let tries = 1; ; tries++) {
    const [turn] = await readTurnDocuments(store, conversationId, [seq]);
    if (!turn) throw notFoundError();
    try {
      if (!(await cancelAsRead(dependencies, conversationId, turn))) return;
      return await passCrashPoint(dependencies, 'cancel-stored');
    } catch (error) {
      if (!mayBeCommitted(error) || tries >= CANCEL_TRIES) throw error;
      await waitAfterLost(clock, tries - 1);
    }
  }
}

/**
 * Cancels the turn under the update time with which it was read; false: there was nothing to do. Throws
 * GuardLostError.
 */
async function cancelAsRead(
  dependencies: ChatDependencies,
  conversationId: string,
  turn: TurnDocument,
): Promise<boolean> {
  const { state, seq, leaseUntil, cancelRequested } = turn.value;
  const { updateTime } = turn;
  const now = dependencies.clock.now();
  switch (state) {
    case 'queued': {
      const end = { state: 'cancelled', lastFrameId: UNBEGUN_LAST_FRAME_ID } as const;
      const writes = closeTurnWrites(conversationId, { seq, updateTime, end, now });
      await dependencies.store.commit(writes);
      tellClosed(dependencies, conversationId, endedBy(turn.value, { end }));
      return true;
    }
    case 'awaiting_tool':
      await closeCancelled(dependencies, conversationId, { turn, now });
      return true;
    case 'running':
      if (leaseUntil <= now) await closeCancelled(dependencies, conversationId, { turn, now });
      else if (cancelRequested) return false;
      else
        // Its producer, which holds the lease, ends it.
        await dependencies.store.commit([
          {
            op: 'update',
            path: turnPath(conversationId, seq),
            fields: { cancelRequested: true },
            guard: { updateTime },
          },
        ]);
      return true;
    case 'done':
    case 'failed':
    case 'cancelled':
      return false;
  }
}
