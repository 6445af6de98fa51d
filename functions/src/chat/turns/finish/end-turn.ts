import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { selectOutputForms, type Viewing } from '#functions/context/output-forms.ts';
import { requestAfterTurn } from '#shared/compaction/trigger.ts';
import { meterAfterTurn } from '#shared/conversation/context/meter.ts';
import { endedContents } from '#shared/conversation/context/tool-calls.ts';
import { isSeen } from '#shared/conversation/documents/content.ts';
import type { ContextMeter } from '#shared/conversation/documents/conversation.ts';
import type { TurnError } from '#shared/conversation/documents/turn.ts';
import { withoutServerCalls } from '#shared/conversation/repair/server-calls.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import type { AppError } from '#shared/errors.ts';
import { loopKind } from '#shared/loops/loop-reasons.ts';
import { BLOCKED_PROMPT, toFinishReason } from '#shared/wire/finish-reason.ts';
import { estimateAll } from '../answer/answer-round.ts';
import type { BegunTurn, ContextAtStart } from '../start/begun-turn.ts';
import type { TurnAnswer } from '../store/turn-progress.ts';

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
  const isSaid = answer.contents.some(({ role, parts }) => role === 'model' && isSeen(parts));
  if (isCancelled) return isSaid || hasRounds;
  if (toFinishReason(answer.finishReason) === 'content-filter') return false;
  if (!answer.error) return true;
  return hasRounds && !OVERFLOWS.includes(answer.error.reason);
}

/** The meter with this turn in the context. */
function measureTurn(viewing: Viewing, begun: BegunTurn, answer: TurnAnswer): ContextMeter {
  const { sentContents, sent, report } = answer;
  const contents = [...answer.contents];
  const { turn, context, tokens } = begun;
  const own = {
    seq: begun.attempt.seq,
    user: turn.user,
    surroundings: turn.surroundings,
    contents,
    tokens: { user: tokens.user, answer: estimateAll(contents, begun.context.conversation) },
    inContext: true,
    leftOutFiles: answer.leftOutFiles,
  };
  return meterAfterTurn(
    {
      before: context,
      own,
      overheadTokens: tokens.overhead,
      saidTokens: tokens.said,
      answerTokens: estimateAll(contents.slice(sentContents), context.conversation),
      // A report about a prompt with less than the context, or an answer that was cut, says nothing about it.
      usage: sent.isOverLimit || loopKind(answer.finishReason) ? undefined : report,
    },
    selectOutputForms(viewing, context.conversation),
  );
}

/** The compaction that a context asks for which is measured with the conversation document of the start. */
const requestWith = (
  { config }: Pick<ChatDependencies, 'config'>,
  { conversation, nextModel, history, turns }: ContextAtStart,
  {
    answer,
    ...input
  }: { meter: ContextMeter | undefined; answer: TurnAnswer; requestId: string; now: Date },
) =>
  requestAfterTurn({
    ...input,
    isOverflow: answer.error?.reason === 'MODEL_CONTEXT_OVERFLOW',
    // Without a context the message alone is what is blocked.
    isBlocked:
      answer.finishReason === BLOCKED_PROMPT &&
      (history !== undefined || turns.some(({ inContext }) => inContext)),
    // What waits in the conversation document is looked at again when the batch is written.
    conversation: {
      ...conversation,
      compactionRequests: { declined: conversation.compactionRequests.declined },
    },
    history,
    policy: conversationPolicy(config, { ...conversation, model: nextModel }),
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
  const { rounds, usage, grounding, error } = answer;
  const { foldedInContext, routing } = begun.turn;
  const { recalled } = begun.call;
  const isWaiting = answer.isWaiting && !isCancelled;
  const contents = isWaiting ? answer.contents : withoutServerCalls(answer.contents);
  const inContext = !isWaiting && (foldedInContext ?? isInContext(answer, isCancelled));
  const isMeasured = (inContext || isWaiting) && foldedInContext === undefined;
  const unanswered = isCancelled ? 'cancelled_by_user' : error && 'interrupted';
  // Later prompts say of each open call that it was not answered.
  const read = unanswered ? endedContents(contents, unanswered) : contents;
  const measured = isMeasured
    ? measureTurn(dependencies, begun, { ...answer, contents: read })
    : undefined;
  const waitsUntil = new Date(now.getTime() + dependencies.config.TOOL_RESULT_TIMEOUT_MS);
  return {
    conversationId,
    seq,
    attempt,
    turnUpdateTime,
    state: stateOf(answer, isCancelled),
    contents,
    rounds: rounds && { ...rounds, step: rounds.step + 1 },
    unanswered,
    answerTokens: estimateAll(contents, begun.context.conversation),
    userTokens: begun.tokens.user,
    inContext,
    usage,
    repairs: answer.repairs,
    leftOutFiles: answer.leftOutFiles,
    routing,
    grounding,
    ...(recalled.seqs.length > 0 && {
      recalled: { seqs: recalled.seqs, tokens: recalled.tokens },
    }),
    finishReason: answer.finishReason,
    ...(error && { error: errorOf(error) }),
    now,
    ...(isWaiting && { waitsUntil }),
    // A turn that waits is not in the context yet; its size may ask for a compaction of what stands before it.
    meter: isWaiting ? undefined : measured,
    compactionRequest: requestWith(dependencies, begun.context, {
      meter: measured,
      answer,
      requestId,
      now,
    }),
  };
}

function stateOf(answer: TurnAnswer, isCancelled: boolean): FinishBatch['state'] {
  if (isCancelled) return 'cancelled';
  if (answer.isWaiting) return 'awaiting_tool';
  return answer.error ? 'failed' : 'done';
}
