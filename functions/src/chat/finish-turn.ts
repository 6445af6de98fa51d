import type { Content } from '../../../shared/conversation/content.ts';
import { meterAfterTurn } from '../../../shared/conversation/meter.ts';
import { readTurns } from '../../../shared/conversation/read-conversation.ts';
import { statusWrite } from '../../../shared/conversation/status-write.ts';
import { isTerminal } from '../../../shared/conversation/turn.ts';
import { finishWrites, type FinishBatch } from '../../../shared/conversation/turn-writes.ts';
import { compactionNeed } from '../../../shared/compaction/crossing.ts';
import { estimateContentTokens } from '../../../shared/compaction/token-estimate.ts';
import { AppError, GuardLostError, StoreUnavailableError } from '../../../shared/errors.ts';
import type { ContextObject } from '../../../shared/wire/context-object.ts';
import { finishReasonOf } from '../../../shared/wire/stream.ts';
import { meterCounting, policyOf } from '../conversation-policy.ts';
import type { BegunTurn } from './begin-turn.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { isOwnAttempt, type Attempt } from './lease-keeper.ts';
import type { Answer } from './stream-answer.ts';

/** How often a finish is tried before the turn is left to its lease. */
const FINISH_TRIES = 5;
const FINISH_RETRY_MS = 100;

/** A phone that comes back at once would spend all attempts before anything has changed. */
const RETRY_AFTER_MS = 1_000;

const retryAfterMs = (error: AppError) =>
  error.retryable ? (error.retryAfterMs ?? RETRY_AFTER_MS) : undefined;

/** What the turn becomes: pure but for the time and the id that are handed in. */
export function endTurn(
  dependencies: Pick<ChatDependencies, 'config'>,
  end: { begun: BegunTurn; answer: Answer; now: Date; requestId: string },
): FinishBatch {
  const { begun, answer, now } = end;
  const { conversationId, seq, attempt, turnUpdateTime } = begun.attempt;
  const isFiltered = finishReasonOf(answer.finishReason) === 'content-filter';
  const inContext = answer.error === undefined && !isFiltered;
  const contents: Content[] =
    answer.parts.length > 0 ? [{ role: 'model', parts: answer.parts }] : [];
  const answerTokens = contents.reduce(
    (sum, content) => sum + estimateContentTokens(content, meterCounting(begun.head)),
    0,
  );
  const meter = inContext
    ? meterAfterTurn({
        before: begun,
        seq,
        overheadTokens: begun.overheadTokens,
        userTokens: begun.userTokens,
        answerTokens,
        usage: answer.usage,
      })
    : undefined;
  const need = compactionNeed({
    head: begun.head,
    history: begun.history,
    meter,
    isOverflow: answer.error?.reason === 'MODEL_CONTEXT_OVERFLOW',
    policy: policyOf(dependencies.config, begun.head),
    requestId: end.requestId,
    now,
  });
  return {
    conversationId,
    seq,
    attempt,
    turnUpdateTime,
    state: answer.error ? 'failed' : 'done',
    contents,
    answerTokens,
    userTokens: begun.userTokens,
    inContext,
    usage: answer.usage,
    finishReason: answer.finishReason,
    ...(answer.error && {
      error: {
        status: answer.error.status,
        reason: answer.error.reason,
        message: answer.error.publicMessage,
        retryable: answer.error.retryable,
        retryAfterMs: retryAfterMs(answer.error),
      },
    }),
    now,
    meter,
    need,
  };
}

export const takenOverError = ({ conversationId, seq, attempt }: Attempt) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_TAKEN_OVER',
    message: `attempt ${attempt} at turn ${seq} of ${conversationId} was taken over`,
    publicMessage: 'Another server continues this answer.',
    retryable: true,
  });

/** Looks at the turn after a commit whose outcome is open. */
async function afterLostCommit(dependencies: ChatDependencies, batch: FinishBatch, own: Attempt) {
  const [turn] = await readTurns(dependencies.store, own.conversationId, [own.seq]);
  if (!turn || !isOwnAttempt(turn.value, own)) return 'lost';
  if (isTerminal(turn.value.state)) return 'done';
  batch.turnUpdateTime = turn.updateTime;
  return 'again';
}

/**
 * Commits the end of a turn. A lost reply and a lost guard look the same from here, so the turn itself
 * is asked: terminal by this producer is success. Throws TURN_TAKEN_OVER, StoreUnavailableError.
 */
export async function commitFinish(
  dependencies: ChatDependencies,
  finish: {
    batch: FinishBatch;
    own: Attempt;
    /** Told to the owner's devices in the same batch; absent when the state of compaction stays. */
    status: ContextObject | undefined;
  },
): Promise<void> {
  const { store, clock } = dependencies;
  const { batch, own, status } = finish;
  for (let tries = 1; ; tries++) {
    try {
      const told = status ? [await statusWrite(store, own.conversationId, { ...status })] : [];
      await store.commit([...finishWrites(batch), ...told]);
      return;
    } catch (error) {
      const isOpen = error instanceof GuardLostError || error instanceof StoreUnavailableError;
      if (!isOpen || tries >= FINISH_TRIES) throw error;
      await clock.wait(FINISH_RETRY_MS * (tries - 1));
      const found = await afterLostCommit(dependencies, batch, own).catch(() => 'again' as const);
      if (found === 'done') return;
      if (found === 'lost') throw takenOverError(own);
    }
  }
}
