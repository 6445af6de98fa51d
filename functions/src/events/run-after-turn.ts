import type { RecapApp } from '#functions/app.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { deadlineReason, errorOfApp } from '#functions/lib/failure-reason.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { modelThatAnswered } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import { type AfterTurn, afterTurnPath } from '#shared/hooks/after-turn.ts';
import { toReadTurn } from '#shared/hooks/read-turn.ts';
import type { Clock, DocumentStore, Logger } from '#shared/ports/ports.ts';

/** How long the step of an app may take, ms. */
const AFTER_TURN_TIMEOUT_MS = 10_000;

interface AfterTurnDependencies {
  store: DocumentStore;
  clock: Clock;
  logger: Logger;
  /** The app's; absent: nothing is to be done behind turns. */
  afterTurn?: RecapApp['afterTurn'];
}

/**
 * An answered turn as the app's step is told of it; undefined where it is gone, `in the bin` with a conversation that may
 * come back. Throws StoreUnavailableError.
 */
async function readAnswered(
  { store }: AfterTurnDependencies,
  { conversationId, seq }: Pick<AfterTurn, 'conversationId' | 'seq'>,
) {
  const [conversation, [turn]] = await Promise.all([
    readConversation(store, conversationId),
    readTurns(store, conversationId, [seq]),
  ]);
  if (conversation?.value.state === 'deleted') return 'in the bin' as const;
  if (conversation?.value.state !== 'live' || turn?.value.state !== 'done') return undefined;
  if (turn.value.eraseTime !== undefined) return undefined;
  const { usage } = turn.value;
  const model = modelThatAnswered(turn.value);
  return {
    uid: conversation.value.ownerUid,
    conversationId,
    turn: toReadTurn(turn.value),
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
  };
}

/**
 * Runs the app's step behind a turn; a turn that is gone needs none. False: it failed, which is logged, or was not begun,
 * because `signal` has fired or the conversation is in the bin. Never throws.
 */
async function isRun(
  dependencies: AfterTurnDependencies,
  entry: Pick<AfterTurn, 'conversationId' | 'seq'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { afterTurn, clock, logger } = dependencies;
  try {
    const answered = await readAnswered(dependencies, entry);
    // Begun now, it would be broken off at once, and done twice.
    if (signal.aborted || answered === 'in the bin') return false;
    if (answered && afterTurn)
      await withDeadline({ clock, ms: AFTER_TURN_TIMEOUT_MS, signal }, async (late) =>
        afterTurn({ ...answered, signal: late }),
      );
    return true;
  } catch (error) {
    const { conversationId } = entry;
    logger.log('WARNING', 'after_turn_failed', {
      conversationId,
      reason: deadlineReason(error),
      ...errorOfApp(error),
    });
    return false;
  }
}

/**
 * Runs the app's step behind a turn and notes that it is done; false: the sweep does it later. `ran` is a crash point
 * between the two. Throws what that throws.
 */
export async function runAfterTurn(
  dependencies: AfterTurnDependencies,
  entry: Pick<AfterTurn, 'conversationId' | 'seq'>,
  { signal, ran }: { signal: AbortSignal; ran: () => Promise<void> },
): Promise<boolean> {
  if (!(await isRun(dependencies, entry, signal))) return false;
  await ran();
  try {
    await dependencies.store.commit([{ op: 'delete', path: afterTurnPath(entry) }]);
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return false;
  }
}
