import type { Content } from '#shared/conversation/documents/content.ts';
import { meterAfterTurn } from '#shared/conversation/context/meter.ts';
import type { ContextMeter } from '#shared/conversation/documents/head.ts';
import type { TurnError } from '#shared/conversation/documents/turn.ts';
import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import { finishWrites, type FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import { compactionNeed } from '#shared/compaction/trigger/compaction-trigger.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { loopKind } from '#shared/loops/loop-reasons.ts';
import { type AppError, mayBeCommitted } from '#shared/errors.ts';
import type { ContextObject } from '#shared/wire/views/context-object.ts';
import { toFinishReason, type StreamFrame } from '#shared/wire/stream.ts';
import { meterCounting, conversationPolicy } from '#functions/config/conversation-policy.ts';
import { selectOutputForms, type Viewing } from '#functions/context/output-forms.ts';
import type { BegunTurn } from '../start/begin-turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { RequestAtEnd } from './request-at-end.ts';
import { isShown } from '../answer/stream-answer.ts';
import type { TurnAnswer } from '../store/turn-progress.ts';
import { takenOverError } from '../answer/taken-over.ts';
import type { Attempt } from '../store/turn-store.ts';
import type { TurnWriter } from '../store/turn-writer.ts';

/** How often a finish is tried before the turn is left to its lease. */
const FINISH_TRIES = 5;
const FINISH_RETRY_MS = 100;

/** JSON of frames that the finish stores beside the answer, bytes; what is more is flushed before. */
const FINISH_FRAMES_BYTES = 512 * 1024;

/** A phone that comes back at once would spend all attempts before anything has changed. */
const RETRY_AFTER_MS = 1_000;

const retryAfterMs = (error: AppError) =>
  error.retryable ? (error.retryAfterMs ?? RETRY_AFTER_MS) : undefined;

const OVERFLOWS = ['MODEL_CONTEXT_OVERFLOW', 'CONTEXT_WINDOW_WILL_OVERFLOW'];

/**
 * Whether the turn stands in the context: one that was answered, and of any other what the model has to know
 * of, because its user saw it or its tools have done it. What did not fit the window stays out of it.
 */
function isInContext(answer: TurnAnswer, isCancelled: boolean): boolean {
  const hasRounds = answer.rounds !== undefined;
  const isSaid = answer.contents.some(({ role, parts }) => role === 'model' && parts.some(isShown));
  if (isCancelled) return isSaid || hasRounds;
  if (toFinishReason(answer.finishReason) === 'content-filter') return false;
  if (!answer.error) return true;
  return hasRounds && !OVERFLOWS.includes(answer.error.reason);
}

const estimateAll = (contents: readonly Content[], { head }: BegunTurn): number =>
  contents.reduce((sum, content) => sum + estimateContentTokens(content, meterCounting(head)), 0);

/** The meter with this turn in the context. */
export function measureTurn(viewing: Viewing, begun: BegunTurn, answer: TurnAnswer): ContextMeter {
  const { sentContents, report } = answer;
  const contents = [...answer.contents];
  const { head, user, surroundings, userTokens, overheadTokens, saidTokens } = begun;
  const own = {
    seq: begun.attempt.seq,
    user,
    surroundings,
    contents,
    tokens: { user: userTokens, answer: estimateAll(contents, begun) },
    inContext: true,
  };
  return meterAfterTurn(
    {
      before: begun,
      own,
      overheadTokens,
      saidTokens,
      answerTokens: estimateAll(contents.slice(sentContents), begun),
      // A report about a prompt with less than the context, or an answer that was cut, says nothing about it.
      usage: begun.isOverLimit || loopKind(answer.finishReason) ? undefined : report,
    },
    selectOutputForms(viewing, head),
  );
}

/** The need that a context leaves behind which is measured with the head of the start. */
export const needWith = (
  { config }: Pick<ChatDependencies, 'config'>,
  begun: BegunTurn,
  input: { meter: ContextMeter | undefined; isOverflow: boolean; requestId: string; now: Date },
) =>
  compactionNeed({
    ...input,
    // What waits in the head is looked at again when the batch is written.
    head: {
      ...begun.head,
      compactionNeeded: { declined: begun.head.compactionNeeded.declined },
    },
    history: begun.history,
    policy: conversationPolicy(config, { ...begun.head, model: begun.nextModel }),
  });

const errorOf = (error: AppError): TurnError => ({
  status: error.status,
  reason: error.reason,
  message: error.publicMessage,
  retryable: error.retryable,
  retryAfterMs: retryAfterMs(error),
});

/**
 * What the turn becomes: pure but for the time and the id that are handed in. A cancelled one keeps what
 * was said until then; one whose calls the app has to answer waits.
 */
export function endTurn(
  dependencies: Viewing,
  end: { begun: BegunTurn; answer: TurnAnswer; isCancelled: boolean; now: Date; requestId: string },
): FinishBatch {
  const { begun, isCancelled, now, requestId } = end;
  const answer: TurnAnswer = isCancelled
    ? { ...end.answer, error: undefined, finishReason: undefined }
    : end.answer;
  const { conversationId, seq, attempt, turnUpdateTime } = begun.attempt;
  const { contents, rounds, usage, error } = answer;
  const isWaiting = answer.isWaiting && !isCancelled;
  const inContext = !isWaiting && (begun.foldedInContext ?? isInContext(answer, isCancelled));
  const isMeasured = (inContext || isWaiting) && begun.foldedInContext === undefined;
  const measured = isMeasured ? measureTurn(dependencies, begun, answer) : undefined;
  const waitsUntil = new Date(now.getTime() + dependencies.config.TOOL_RESULT_TIMEOUT_MS);
  const isOverflow = error?.reason === 'MODEL_CONTEXT_OVERFLOW';
  return {
    conversationId,
    seq,
    attempt,
    turnUpdateTime,
    state: stateOf(answer, isCancelled),
    contents,
    rounds: rounds && { ...rounds, step: rounds.step + 1 },
    unanswered: isCancelled ? 'cancelled_by_user' : error && 'interrupted',
    answerTokens: estimateAll(contents, begun),
    userTokens: begun.userTokens,
    inContext,
    usage,
    repairs: answer.repairs,
    routing: begun.routing,
    ...(begun.recalled.seqs.length > 0 && {
      recalled: { seqs: begun.recalled.seqs, tokens: begun.recalled.tokens },
    }),
    finishReason: answer.finishReason,
    ...(error && { error: errorOf(error) }),
    now,
    ...(isWaiting && { waitsUntil }),
    // A turn that waits is not in the context yet; its size may ask for a compaction of what stands before it.
    meter: isWaiting ? undefined : measured,
    need: needWith(dependencies, begun, { meter: measured, isOverflow, requestId, now }),
  };
}

function stateOf(answer: TurnAnswer, isCancelled: boolean): FinishBatch['state'] {
  if (isCancelled) return 'cancelled';
  if (answer.isWaiting) return 'awaiting_tool';
  return answer.error ? 'failed' : 'done';
}

/**
 * Commits the end of a turn, or its pause, with the frames that are not stored yet and the closing ones. A lost reply and
 * a lost guard look the same from here, so the turn itself is asked: terminal by this producer is success.
 * Resolves to the need that the workers are to be told of. Throws TURN_TAKEN_OVER, StoreUnavailableError.
 */
export async function commitFinish(
  dependencies: ChatDependencies,
  finish: {
    batch: FinishBatch;
    own: Attempt;
    writer: Pick<TurnWriter, 'flushDownTo' | 'last' | 'recover' | 'obsoletePieces'>;
    closing: readonly StreamFrame[];
    /** Told to the owner's devices in the same batch; absent when the state of compaction stays. */
    status: ContextObject | undefined;
    decided: RequestAtEnd;
    /** For another try: sees what others did meanwhile. */
    decideAgain: () => Promise<RequestAtEnd>;
  },
): Promise<FinishBatch['need']> {
  const { store, clock } = dependencies;
  const { batch, own, writer, closing, status, decideAgain } = finish;
  let { decided } = finish;
  /** Of any try: which of them was applied is not known after a lost reply, and a hint more does no harm. */
  let asked = decided.need;
  const lastFrameId = closing.at(-1)?.id ?? 0;
  // Not `retry`: between two tries the turn itself says whether there is anything left to do.
  for (let tries = 1; ; tries++) {
    try {
      await writer.flushDownTo(FINISH_FRAMES_BYTES);
      const told = status ? [await statusWrite(store, own.conversationId, { ...status })] : [];
      const end = batch.waitsUntil ? 'pause' : 'final';
      const stream = { ...writer.last(closing, { end, now: batch.now }), lastFrameId };
      const { turnUpdateTime } = own;
      const writes = finishWrites({ ...batch, ...decided, turnUpdateTime, stream });
      await store.commit([...writes, ...writer.obsoletePieces(), ...told]);
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
