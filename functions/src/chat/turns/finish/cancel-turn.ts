import { readPartialAnswer } from '#shared/conversation/repair/partial-answer.ts';
import { turnId, turnPath } from '#shared/conversation/documents/paths.ts';
import {
  readConversation,
  readTurnDocuments,
} from '#shared/conversation/context/read-conversation.ts';
import { isTerminal, type Turn, type TurnDocument } from '#shared/conversation/documents/turn.ts';
import { abandonedFields, endAbandonedWrites } from '#shared/conversation/writes/end-abandoned.ts';
import { AppError, mayBeCommitted } from '#shared/errors.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { settlesWithin } from '#functions/lib/deadline.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { closeOpenTurn } from './close-turn.ts';
import { liveTurnKey } from '../live/live-turn.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
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

/** A turn that nobody answers, abandoned or waiting, ends here, with what it had said so far. */
async function endRunning(
  dependencies: ChatDependencies,
  conversationId: string,
  { turn, now }: { turn: TurnDocument; now: Date },
): Promise<void> {
  const { store } = dependencies;
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw notFoundError(conversationId);
  const counting = meterCounting(conversation.value);
  const partial = await readPartialAnswer(store, { conversationId, turn, counting });
  const closing = { ...abandonedFields(turn, now), end: { state: 'cancelled' as const, partial } };
  await closeOpenTurn(dependencies, { conversationId, conversation, closing });
}

/** Cancels the turn as it was read; false when nothing is left to do. Throws GuardLostError. */
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
      const writes = endAbandonedWrites(conversationId, { seq, updateTime, end, now });
      await dependencies.store.commit(writes);
      return true;
    }
    case 'awaiting_tool':
      await endRunning(dependencies, conversationId, { turn, now });
      return true;
    case 'running':
      if (leaseUntil <= now) await endRunning(dependencies, conversationId, { turn, now });
      else if (cancelRequested) return false;
      else
        await dependencies.store.commit([requestWrite(turnPath(conversationId, seq), updateTime)]);
      return true;
    case 'done':
    case 'failed':
    case 'cancelled':
      return false;
  }
}

/**
 * Cancels a turn: its producer here at once, one of another instance within a second, and whoever comes
 * back for it later closes it without asking the model. One that waits, or that is abandoned, is cancelled
 * when this resolves; what it had said and stored so far stays. A finished one stays as it is.
 * Throws NOT_FOUND, GuardLostError when others won every try, StoreUnavailableError.
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
    if (!turn) throw notFoundError(conversationId);
    try {
      if (!(await cancelAsRead(dependencies, conversationId, turn))) return;
      return await passCrashPoint(dependencies, 'cancel-stored');
    } catch (error) {
      if (!mayBeCommitted(error) || tries >= CANCEL_TRIES) throw error;
      await clock.wait(Math.min(CANCEL_RETRY_MAX_MS, CANCEL_RETRY_MS * (tries - 1)));
    }
  }
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
 * Cancels a caller's turn and returns it as it stands then: cancelled, or, when another instance answers
 * it, running with `cancelRequested`. Cancelling a cancelled turn changes nothing.
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
  if (turn.state === 'done' || turn.state === 'failed') throw finishedError(turn);
  return turn;
}
