import { usageCostMicros } from '../../../../shared/compaction/prices.ts';
import type { Content } from '../../../../shared/conversation/content.ts';
import { meterAfterTurn } from '../../../../shared/conversation/meter.ts';
import type { TurnUsage } from '../../../../shared/conversation/turn.ts';
import { statusWrite } from '../../../../shared/conversation/status-write.ts';
import { finishWrites, type FinishBatch } from '../../../../shared/conversation/turn-writes.ts';
import { compactionNeed } from '../../../../shared/compaction/crossing.ts';
import { estimateContentTokens } from '../../../../shared/compaction/token-estimate.ts';
import { AppError, mayBeCommitted } from '../../../../shared/errors.ts';
import type { ModelUsage } from '../../../../shared/ports.ts';
import type { ContextObject } from '../../../../shared/wire/context-object.ts';
import { finishReasonOf, type StreamFrame } from '../../../../shared/wire/stream.ts';
import type { Config } from '../../config.ts';
import { meterCounting, policyOf } from '../../conversation-policy.ts';
import type { BegunTurn } from '../send/begin-turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { NeedAtEnd } from './need-at-end.ts';
import { isShown, type Answer } from './stream-answer.ts';
import type { Attempt, TurnWriter } from './turn-writer.ts';

/** How often a finish is tried before the turn is left to its lease. */
const FINISH_TRIES = 5;
const FINISH_RETRY_MS = 100;

/** JSON of frames that the finish stores beside the answer, bytes; what is more is flushed before. */
const FINISH_FRAMES_BYTES = 512 * 1024;

/** A phone that comes back at once would spend all attempts before anything has changed. */
const RETRY_AFTER_MS = 1_000;

const retryAfterMs = (error: AppError) =>
  error.retryable ? (error.retryAfterMs ?? RETRY_AFTER_MS) : undefined;

/**
 * What the turn becomes: pure but for the time and the id that are handed in. A cancelled one keeps what
 * was said until then, and is in the context if the user has seen any of it.
 */
export function endTurn(
  dependencies: Pick<ChatDependencies, 'config'>,
  end: { begun: BegunTurn; answer: Answer; isCancelled: boolean; now: Date; requestId: string },
): FinishBatch {
  const { begun, isCancelled, now } = end;
  const answer: Answer = isCancelled
    ? { parts: end.answer.parts, usage: end.answer.usage }
    : end.answer;
  const { conversationId, seq, attempt, turnUpdateTime } = begun.attempt;
  const isFiltered = finishReasonOf(answer.finishReason) === 'content-filter';
  const inContext = isCancelled
    ? answer.parts.some(isShown)
    : answer.error === undefined && !isFiltered;
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
        saidTokens: begun.saidTokens,
        answerTokens,
        // A report about a shrunken prompt says nothing about the context.
        usage: begun.shrinkage ? undefined : answer.usage,
      })
    : undefined;
  const need = compactionNeed({
    // What waits in the head is looked at again when the finish is written.
    head: {
      ...begun.head,
      compactionNeeded: { declined: begun.head.compactionNeeded.declined },
    },
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
    state: stateOf(answer, isCancelled),
    contents,
    answerTokens,
    userTokens: begun.userTokens,
    inContext,
    usage: answer.usage && usageOf(dependencies.config, begun, answer.usage),
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

/** What the model reported, with what it cost, where that is known. */
function usageOf(config: Config, { head }: BegunTurn, usage: ModelUsage): TurnUsage {
  const cost = usageCostMicros(head.model, usage, config.MODEL_PRICES);
  return { ...usage, ...(cost !== undefined && { costMicros: cost }) };
}

function stateOf(answer: Answer, isCancelled: boolean): FinishBatch['state'] {
  if (isCancelled) return 'cancelled';
  return answer.error ? 'failed' : 'done';
}

export const takenOverError = ({ conversationId, seq, attempt }: Attempt) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_TAKEN_OVER',
    message: `attempt ${attempt} at turn ${seq} of ${conversationId} was taken over`,
    publicMessage: 'Another server continues this answer.',
    retryable: true,
  });

/** Whether the turn belongs to somebody else now, who tells how it ends. */
export const isTakenOver = (error: unknown): boolean =>
  error instanceof AppError && error.reason === 'TURN_TAKEN_OVER';

/**
 * Commits the end of a turn, with the frames that are not stored yet and the closing ones. A lost reply and
 * a lost guard look the same from here, so the turn itself is asked: terminal by this producer is success.
 * Resolves to the need that the workers are to be told of. Throws TURN_TAKEN_OVER, StoreUnavailableError.
 */
export async function commitFinish(
  dependencies: ChatDependencies,
  finish: {
    batch: FinishBatch;
    own: Attempt;
    writer: Pick<TurnWriter, 'flushDownTo' | 'last' | 'recover'>;
    closing: readonly StreamFrame[];
    /** Told to the owner's devices in the same batch; absent when the state of compaction stays. */
    status: ContextObject | undefined;
    decided: NeedAtEnd;
    /** For another try: sees what others did meanwhile. */
    decideAgain: () => Promise<NeedAtEnd>;
  },
): Promise<FinishBatch['need']> {
  const { store, clock } = dependencies;
  const { batch, own, writer, closing, status, decideAgain } = finish;
  let { decided } = finish;
  /** Of any try: which of them was applied is not known after a lost reply, and a hint more does no harm. */
  let asked = decided.need;
  const lastFrameId = closing.at(-1)?.id ?? 0;
  for (let tries = 1; ; tries++) {
    try {
      await writer.flushDownTo(FINISH_FRAMES_BYTES);
      const told = status ? [await statusWrite(store, own.conversationId, { ...status })] : [];
      const stream = { ...writer.last(closing, batch.now), lastFrameId };
      const { turnUpdateTime } = own;
      const writes = finishWrites({ ...batch, ...decided, turnUpdateTime, stream });
      await store.commit([...writes, ...told]);
      return decided.need;
    } catch (error) {
      if (!mayBeCommitted(error) || tries >= FINISH_TRIES) throw error;
      await clock.wait(FINISH_RETRY_MS * (tries - 1));
      const standing = await writer.recover().catch(() => 'own' as const);
      if (standing === 'ended') return asked;
      if (standing === 'lost') throw takenOverError(own);
      // A head that others keep changing is not waited for: a request too many ends as NOOP.
      decided = tries < FINISH_TRIES - 1 ? await decideAgain() : { need: batch.need };
      asked ??= decided.need;
    }
  }
}
