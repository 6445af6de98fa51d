import { recalledView } from '#shared/wire/resources/turns.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { type Viewing, selectOutputForms } from '#functions/context/next-call.ts';
import { requestAfterTurn, requestForContext } from '#shared/compaction/trigger.ts';
import { contextTokens, meterAfterTurn } from '#shared/conversation/context/meter.ts';
import {
  readContextParts,
  readConversation,
} from '#shared/conversation/context/read-conversation.ts';
import { endedContents, withoutServerCalls } from '#shared/conversation/context/tool-calls.ts';
import { isSeen } from '#shared/models/content.ts';
import type {
  CompactionRequests,
  ContextMeter,
} from '#shared/conversation/documents/conversation.ts';
import { type Turn, withWholePairs } from '#shared/conversation/documents/turn.ts';
import type { TurnEnd } from '#shared/conversation/writes/turn-writes.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { loopKind } from '#shared/conversation/call-loop.ts';
import { BLOCKED_PROMPT, toFinishReason } from '#shared/models/finish-reason.ts';
import { estimateAll } from '../answer/answer-round.ts';
import type { BegunTurn, ContextAtStart, TurnAnswer } from '../start/begun-turn.ts';

/** A phone that comes back at once would spend all attempts before anything has changed. */
const RETRY_AFTER_MS = 1_000;

const OVERFLOWS = ['MODEL_CONTEXT_OVERFLOW', 'CONTEXT_WINDOW_WILL_OVERFLOW'];

/**
 * What the turn becomes: pure but for the time and the id that are handed in. A cancelled one keeps what
 * was said until then; one whose calls the app has to answer waits.
 */
export function endTurn(
  dependencies: Viewing,
  end: { begun: BegunTurn; answer: TurnAnswer; isCancelled: boolean; now: Date; requestId: string },
): TurnEnd {
  const { begun, isCancelled, now, requestId } = end;
  const answer: TurnAnswer = isCancelled
    ? { ...end.answer, error: undefined, finishReason: undefined }
    : end.answer;
  const { conversationId, seq, attempt } = begun.attempt;
  const { rounds, usage, grounding, error } = answer;
  const { foldedInContext, routing } = begun.turn;
  const { recalled } = begun.call;
  const isWaiting = answer.isWaiting && !isCancelled;
  const contents = isWaiting ? answer.contents : withoutServerCalls(answer.contents);
  const inContext = !isWaiting && (foldedInContext ?? isInContext(answer, isCancelled));
  const isMeasured = (inContext || isWaiting) && foldedInContext === undefined;
  const unanswered = isCancelled ? 'cancelled_by_user' : error && 'interrupted';
  // Later prompts say of each open call that it was not answered.
  const contentsRead = unanswered ? endedContents(contents, unanswered) : contents;
  const meter = isMeasured
    ? measureTurn(dependencies, begun, { ...answer, contents: contentsRead })
    : undefined;
  const waitsUntil = new Date(now.getTime() + dependencies.config.TOOL_RESULT_TIMEOUT_MS);
  return {
    conversationId,
    seq,
    attempt,
    state: endState(answer, isCancelled),
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
    ...(error && {
      error: {
        status: error.status,
        reason: error.reason,
        message: error.publicMessage,
        retryable: error.retryable,
        retryAfterMs: error.retryable ? (error.retryAfterMs ?? RETRY_AFTER_MS) : undefined,
      },
    }),
    now,
    ...(isWaiting && { waitsUntil }),
    // A turn that waits is not in the context yet; its size may ask for a compaction of what stands before it.
    meter: isWaiting ? undefined : meter,
    compactionRequest: requestForTurn(dependencies, begun.context, {
      meter,
      answer,
      requestId,
      now,
    }),
  };
}

function endState(answer: TurnAnswer, isCancelled: boolean): TurnEnd['state'] {
  if (isCancelled) return 'cancelled';
  if (answer.isWaiting) return 'awaiting_tool';
  return answer.error ? 'failed' : 'done';
}

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
  const { sentContents, report } = answer;
  const contents = [...answer.contents];
  const { turn, context, tokens } = begun;
  const { conversation } = context;
  const own = {
    seq: begun.attempt.seq,
    user: turn.user,
    surroundings: turn.surroundings,
    contents,
    tokens: { user: tokens.user, answer: estimateAll(contents, conversation) },
    inContext: true,
    leftOutFiles: answer.leftOutFiles,
  };
  return meterAfterTurn(
    {
      before: context,
      own,
      overheadTokens: tokens.overhead,
      saidTokens: tokens.said,
      answerTokens: estimateAll(contents.slice(sentContents), conversation),
      // The report of an answer that was cut says nothing about the context.
      usage: loopKind(answer.finishReason) ? undefined : report,
    },
    selectOutputForms(viewing, conversation),
  );
}

/** The compaction that the context asks for, measured with the conversation document of the start. */
const requestForTurn = (
  { config }: Pick<ChatDependencies, 'config'>,
  { conversation, nextModel, history, turns }: ContextAtStart,
  end: { meter: ContextMeter | undefined; answer: TurnAnswer; requestId: string; now: Date },
) =>
  requestAfterTurn({
    meter: end.meter,
    requestId: end.requestId,
    now: end.now,
    isOverflow: end.answer.error?.reason === 'MODEL_CONTEXT_OVERFLOW',
    // Without a context the message alone is what is blocked.
    isBlocked:
      end.answer.finishReason === BLOCKED_PROMPT &&
      (history !== undefined || turns.some(({ inContext }) => inContext)),
    // What waits in the conversation document is looked at again when the batch is written.
    conversation: {
      ...conversation,
      compactionRequests: { declined: conversation.compactionRequests.declined },
    },
    history,
    policy: conversationPolicy(config, { ...conversation, model: nextModel }),
  });

/** What a finished turn asks for, and the state of the conversation document that this holds for. */
export interface RequestAtEnd {
  compactionRequest: CompactionRequests['auto'];
  /** Only when the turn relies on a request that waits: it must still wait when the finish is committed. */
  conversationUpdateTime?: string | undefined;
}

/**
 * What becomes of a crossing that was measured with the conversation document of the start
 * (`end.compactionRequest`), at the end of the turn. A request that waits is enough: who settles it without a reason
 * looks again. After a swap in between the context is measured anew, with this turn; and so is that of a turn which
 * others stand behind, whose prompt had none of them. One read, and only by turns that crossed or were answered in their
 * place.
 */
export async function requestAtEnd(
  dependencies: Pick<
    ChatDependencies,
    'store' | 'cache' | 'logger' | 'config' | 'sha256' | 'randomness'
  >,
  begun: BegunTurn,
  end: TurnEnd,
): Promise<RequestAtEnd> {
  // Others stand behind the turn: it was answered, in its place, after them. What it asks for if all of that crosses.
  const isInItsPlace = end.seq < begun.context.conversation.lastSeq;
  const compactionRequest =
    end.compactionRequest ??
    (end.meter && isInItsPlace
      ? { requestId: dependencies.randomness.uuid(), since: end.now, trigger: 'auto' as const }
      : undefined);
  if (!compactionRequest) return { compactionRequest: undefined };
  try {
    return await measureAgain(dependencies, begun, { end, compactionRequest, isInItsPlace });
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // Unknown: a request too many ends as NOOP, one too few would be missed, and the answer must be stored.
    return { compactionRequest: end.compactionRequest };
  }
}

async function measureAgain(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'logger' | 'config' | 'sha256'>,
  begun: BegunTurn,
  ended: {
    end: TurnEnd;
    compactionRequest: NonNullable<CompactionRequests['auto']>;
    isInItsPlace: boolean;
  },
): Promise<RequestAtEnd> {
  const { end, compactionRequest, isInItsPlace } = ended;
  const { conversationId, seq } = end;
  const document = await readConversation(dependencies.store, conversationId);
  if (!document) return { compactionRequest };
  const { value: conversation, updateTime } = document;
  const { auto } = conversation.compactionRequests;
  // A search goes before a compaction, whose summary the same filter might block. Behind it the threshold is looked at again.
  if (auto && (auto.trigger === 'blocked' || compactionRequest.trigger !== 'blocked'))
    return { compactionRequest: undefined, conversationUpdateTime: updateTime };
  if (compactionRequest.trigger === 'blocked') return { compactionRequest };
  const isSwapped = conversation.generation !== begun.context.conversation.generation;
  if (!isSwapped && !isInItsPlace) return { compactionRequest };
  const toSeq = isInItsPlace ? conversation.lastSeq : seq - 1;
  const parts = await readContextParts(dependencies, { conversationId, conversation, toSeq });
  const { history } = parts;
  const turns = [...parts.turns, finishedTurn({ begun, messageId: '' }, end)];
  // The meter as this turn leaves it: it says that the others have come behind this turn.
  const context = (isInItsPlace && end.meter) || conversation.context;
  const { tokens } = contextTokens(
    { conversation: { ...conversation, context }, history, turns },
    selectOutputForms(dependencies, conversation),
  );
  return {
    compactionRequest: requestForContext({
      conversation,
      history,
      tokens,
      policy: conversationPolicy(dependencies.config, conversation),
      requestId: compactionRequest.requestId,
      now: compactionRequest.since,
    }),
  };
}

/** The turn as the finish stores it, without reading it again. */
export const finishedTurn = (
  { begun, messageId }: { begun: BegunTurn; messageId: string },
  end: TurnEnd,
): Turn =>
  withWholePairs({
    schemaVersion: 1,
    seq: end.seq,
    messageId,
    state: end.state,
    attempt: end.attempt,
    producer: begun.attempt.producer,
    leaseUntil: end.waitsUntil ?? end.now,
    createTime: begun.turn.createTime,
    ...(!end.waitsUntil && { finishTime: end.now }),
    tokens: { user: end.userTokens, answer: end.answerTokens },
    usage: end.usage,
    repairs: end.repairs,
    leftOutFiles: end.leftOutFiles,
    model: begun.context.conversation.model,
    routing: end.routing,
    recalled: end.recalled,
    grounding: end.grounding,
    finishReason: end.finishReason,
    error: end.error,
    inContext: end.inContext,
    retention: begun.turn.retention,
    replaces: begun.turn.replaces,
    surroundings: begun.turn.surroundings,
    describedClient: begun.turn.describedClient,
    ...(end.state === 'cancelled' && { cancelRequested: true }),
    user: begun.turn.user,
    contents: [...end.contents],
    rounds: end.rounds,
    ...(end.unanswered && { unanswered: end.unanswered }),
  });

/** The context as its readers see it once the finish is stored. */
export function viewAfterFinish(
  dependencies: Pick<ChatDependencies, 'clock' | 'config' | 'sha256'>,
  production: { begun: BegunTurn; messageId: string; locale: string | undefined },
  end: TurnEnd,
) {
  const { context } = production.begun;
  const { conversation } = context;
  const { compactionRequests } = conversation;
  const auto = end.compactionRequest ?? compactionRequests.auto;
  const view = viewContext(dependencies, {
    ...context,
    // The conversation document as the finish leaves it, without reading it again.
    conversation: {
      ...conversation,
      model: context.nextModel,
      lastSeq: Math.max(conversation.lastSeq, end.seq),
      context: end.meter ?? conversation.context,
      compactionRequests: { ...compactionRequests, auto },
    },
    turns: [...context.turns, finishedTurn(production, end)],
    meter: end.meter,
    locale: production.locale,
  });
  return { ...view, ...recalledView(end) };
}
