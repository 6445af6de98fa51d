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
import { nextStep, type Turn, withWholePairs } from '#shared/conversation/documents/turn.ts';
import type { TurnEnd } from '#shared/conversation/writes/turn-writes.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { loopKind } from '#shared/conversation/call-loop.ts';
import { BLOCKED_PROMPT, toFinishReason } from '#shared/models/finish-reason.ts';
import { estimateAll } from '../contents-size.ts';
import type { BegunTurn, ContextAtStart, TurnAnswer } from '../start/begun-turn.ts';

/**
 * Default of the wait before a retry, ms: a client that comes back at once would spend all attempts before anything
 * has changed.
 */
const RETRY_AFTER_MS = 1_000;

const OVERFLOWS = ['MODEL_CONTEXT_OVERFLOW', 'CONTEXT_WINDOW_WILL_OVERFLOW'];

/**
 * The end of a turn, or its pause where the app has to answer calls. A cancelled turn keeps what was said until then.
 * Pure: the time and an id are handed in.
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
    rounds: rounds && nextStep(rounds),
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
    // A turn that waits is not in the context yet; with its size the turns before it may have to be folded.
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
 * Whether the turn stands in the context: an answered one does. A cancelled or failed one does where the model has to
 * know what its user saw or its tools did, unless it did not fit the window.
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
      transientTokens: tokens.transient,
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
    // Without a context it is the message itself that is blocked.
    isBlocked:
      end.answer.finishReason === BLOCKED_PROMPT &&
      (history !== undefined || turns.some(({ inContext }) => inContext)),
    // Whether a request waits is read again by `requestAtEnd`.
    conversation: {
      ...conversation,
      compactionRequests: { declined: conversation.compactionRequests.declined },
    },
    history,
    policy: conversationPolicy(config, { ...conversation, model: nextModel }),
  });

/** The compaction that a finished turn asks for, and for which state of the conversation document that holds. */
export interface RequestAtEnd {
  compactionRequest: CompactionRequests['auto'];
  /** Where the turn relies on a request that waits: that one must still wait when the finish is committed. */
  conversationUpdateTime?: string | undefined;
}

/**
 * Whether the compaction that the turn asks for is still needed, with the conversation document read again. Not where
 * one waits already. After a swap, or where later turns stand behind this one, the context is measured anew.
 */
export async function requestAtEnd(
  dependencies: Pick<
    ChatDependencies,
    'store' | 'cache' | 'logger' | 'config' | 'sha256' | 'randomness'
  >,
  begun: BegunTurn,
  end: TurnEnd,
): Promise<RequestAtEnd> {
  const hasLaterTurns = end.seq < begun.context.conversation.lastSeq;
  const compactionRequest =
    end.compactionRequest ??
    (end.meter && hasLaterTurns
      ? { requestId: dependencies.randomness.uuid(), since: end.now, trigger: 'auto' as const }
      : undefined);
  if (!compactionRequest) return { compactionRequest: undefined };
  try {
    return await measureAgain(dependencies, begun, { end, compactionRequest, hasLaterTurns });
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // Not known: a needless request ends as NOOP, a needed one must not be lost, and the answer has to be stored.
    return { compactionRequest: end.compactionRequest };
  }
}

async function measureAgain(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'logger' | 'config' | 'sha256'>,
  begun: BegunTurn,
  ended: {
    end: TurnEnd;
    compactionRequest: NonNullable<CompactionRequests['auto']>;
    hasLaterTurns: boolean;
  },
): Promise<RequestAtEnd> {
  const { end, compactionRequest, hasLaterTurns } = ended;
  const { conversationId, seq } = end;
  const document = await readConversation(dependencies.store, conversationId);
  if (!document) return { compactionRequest };
  const { value: conversation, updateTime } = document;
  const { auto } = conversation.compactionRequests;
  // The search for what a filter blocks comes first: it might block the summary, too. After it the threshold is looked
  // at again.
  if (auto && (auto.trigger === 'blocked' || compactionRequest.trigger !== 'blocked'))
    return { compactionRequest: undefined, conversationUpdateTime: updateTime };
  if (compactionRequest.trigger === 'blocked') return { compactionRequest };
  const isSwapped = conversation.generation !== begun.context.conversation.generation;
  if (!isSwapped && !hasLaterTurns) return { compactionRequest };
  const toSeq = hasLaterTurns ? conversation.lastSeq : seq - 1;
  const parts = await readContextParts(dependencies, { conversationId, conversation, toSeq });
  const { history } = parts;
  const turns = [...parts.turns, finishedTurn(begun, end)];
  // The meter as this turn leaves it: the later turns have come since.
  const context = (hasLaterTurns && end.meter) || conversation.context;
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
export const finishedTurn = (begun: BegunTurn, end: TurnEnd): Turn =>
  withWholePairs({
    schemaVersion: 1,
    seq: end.seq,
    messageId: begun.messageId,
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

/** The context object as readers get it once the finish is stored. */
export function viewAfterFinish(
  dependencies: Pick<ChatDependencies, 'clock' | 'config' | 'sha256'>,
  begun: BegunTurn,
  end: TurnEnd,
) {
  const { context } = begun;
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
    turns: [...context.turns, finishedTurn(begun, end)],
    meter: end.meter,
    locale: begun.locale,
  });
  return { ...view, ...recalledView(end) };
}
