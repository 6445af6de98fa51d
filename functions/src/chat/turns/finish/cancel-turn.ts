import { readPartialAnswer } from '#shared/wire/partial-answer.ts';
import { isInTheWay, isHeld } from '#shared/conversation/start-decision.ts';
import {
  type ClosingTurn,
  closeAbandonedWrites,
  toClosingTurn,
  abandonedFields,
  endAbandonedWrites,
} from '#shared/conversation/writes/abandoned-turns.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { requestAfterClosing } from '#functions/context/request-after-closing.ts';
import { publishRequest } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { settlesWithin } from '#functions/lib/deadline.ts';
import {
  readConversation,
  readTurnDocuments,
} from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { conversationPath, turnId, turnPath } from '#shared/conversation/documents/paths.ts';
import { type Turn, type TurnDocument, isTerminal } from '#shared/conversation/documents/turn.ts';
import { AppError, mayBeCommitted } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { liveTurnKey } from '../live/live-turn.ts';
import type { StartState } from '../start/read-start.ts';
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
    if (!turn) throw notFoundError();
    try {
      if (!(await cancelAsRead(dependencies, conversationId, turn))) return;
      return await passCrashPoint(dependencies, 'cancel-stored');
    } catch (error) {
      if (!mayBeCommitted(error) || tries >= CANCEL_TRIES) throw error;
      await clock.wait(Math.min(CANCEL_RETRY_MAX_MS, CANCEL_RETRY_MS * (tries - 1)));
    }
  }
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

/** A turn that nobody answers, abandoned or waiting, ends here, with what it had said so far. */
async function endRunning(
  dependencies: ChatDependencies,
  conversationId: string,
  { turn, now }: { turn: TurnDocument; now: Date },
): Promise<void> {
  const { store } = dependencies;
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw notFoundError();
  const counting = meterCounting(conversation.value);
  const partial = await readPartialAnswer(store, { conversationId, turn, counting });
  const closing = { ...abandonedFields(turn, now), end: { state: 'cancelled' as const, partial } };
  await closeOpenTurn(dependencies, { conversationId, conversation, closing });
}

/**
 * Ends the open turn, which nobody answers, and frees the conversation, in one batch under the update times of
 * both. What it has said and done comes into the context with it, so the batch says whether that needs a
 * compaction, as the end of an answer does. Throws GuardLostError, StoreUnavailableError.
 */
async function closeOpenTurn(
  dependencies: ChatDependencies,
  target: { conversationId: string; conversation: Versioned<Conversation>; closing: ClosingTurn },
): Promise<void> {
  const { conversationId, conversation, closing } = target;
  const compactionRequest = await requestAfterClosing(dependencies, {
    conversationId,
    conversation: conversation.value,
    closing,
  });
  const now = dependencies.clock.now();
  await dependencies.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        updateTime: now,
        ...(compactionRequest && { 'compactionRequests.auto': { ...compactionRequest } }),
      },
      remove: ['open'],
      guard: { updateTime: conversation.updateTime },
    },
    ...endAbandonedWrites(conversationId, { ...closing, now }),
  ]);
  if (!compactionRequest) return;
  const { requestId, trigger } = compactionRequest;
  await publishRequest(dependencies, { conversationId, requestId, trigger });
}

/** Closes a turn that was tried too often, or waited too long, and frees the conversation. Throws GuardLostError. */
export async function giveUpTurn(
  dependencies: ChatDependencies,
  conversationId: string,
  { conversation, known }: StartState,
): Promise<void> {
  if (!conversation || !known) return;
  const now = dependencies.clock.now();
  const abandoned = abandonedFields(known, now);
  if (conversation.value.open?.seq === known.value.seq)
    return closeOpenTurn(dependencies, {
      conversationId,
      conversation,
      closing: toClosingTurn(abandoned),
    });
  await dependencies.store.commit(
    closeAbandonedWrites(conversationId, { abandoned: [abandoned], now }),
  );
}

/**
 * Ends turns before another one begins whose answers the next prompt has to show: an abandoned one whose user
 * had asked to stop it, with what it had said; and one with tool calls that nobody goes on with. Whether there
 * was one; then what was read is no longer true. Throws what `requestCancel` throws, GuardLostError.
 */
export async function endStopped(
  dependencies: ChatDependencies,
  conversationId: string,
  { known, open, facts, conversation }: StartState,
): Promise<boolean> {
  const stopped = [known?.value, open?.value].find(
    (turn) =>
      turn?.state === 'running' && turn.cancelRequested === true && !isHeld(turn, facts.now),
  );
  if (stopped) {
    await requestCancel(dependencies, { conversationId, seq: stopped.seq });
    return true;
  }
  if (!open || !conversation || open.value.seq === known?.value.seq) return false;
  // An abandoned turn, or one that waits for the app, whose tools have done something.
  const { state, rounds } = open.value;
  const hasDone = !isTerminal(state) && rounds !== undefined && !isInTheWay(open.value, facts.now);
  if (!hasDone) return false;
  const closing = toClosingTurn(abandonedFields(open, dependencies.clock.now()));
  await closeOpenTurn(dependencies, { conversationId, conversation, closing });
  return true;
}
