import { answerText } from '#shared/conversation/context/answer-text.ts';
import { callId, findCalls } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/errors.ts';
import { urlCitations } from '#shared/grounding/url-citations.ts';
import type { OpenAiToolCall } from '#shared/wire/facades/openai.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import type { Completion, CompletionResult } from './completion.ts';
import {
  framesAfterCalls,
  lastNamedCall,
  textAfterCall,
  usageAfterCall,
} from './rest-of-answer.ts';

/** Calls of the app that wait; what asks for the user's word cannot be said in this protocol. */
const toolCallsOf = (turn: Turn): OpenAiToolCall[] =>
  waitingCalls(turn)
    .filter(({ index }) => turn.rounds?.app.includes(index) === true)
    .map(({ index, name, args }) => ({
      id: callId(turn.seq, index),
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));

/** The turn waits for the user's word, for which this protocol has none. */
function approvalNeeded(turn: Turn): AppError {
  const names = waitingCalls(turn).map(({ name }) => name);
  const id = turnId(turn.seq);
  return new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'APPROVAL_NEEDED',
    message: `${id} waits for the approval of ${names.length} calls`,
    publicMessage: `The answer waits until the user allows ${names.join(' and ')}, which OpenAI's protocol cannot ask. Allow or refuse it with POST /v1/conversations/{conversationId}/turns/${id}/toolResults, then send the same request again.`,
    metadata: {
      turnId: id,
      calls: waitingCalls(turn)
        .map(({ index }) => callId(turn.seq, index))
        .join(','),
    },
  });
}

/** What came of a turn, or of the rest of it behind the calls that this request answers. */
async function resultOf(
  { result }: SendHandle,
  { answered, tellsApprovals = false }: { answered: readonly string[]; tellsApprovals?: boolean },
): Promise<CompletionResult> {
  const { turn } = await result;
  const { seq, contents, finishReason, grounding } = turn;
  const toolCalls = toolCallsOf(turn);
  if (turn.state === 'awaiting_tool' && toolCalls.length === 0 && !tellsApprovals)
    throw approvalNeeded(turn);
  const last = lastNamedCall(seq, answered, findCalls(contents).length);
  const text = textAfterCall(contents, last);
  const citations = urlCitations(grounding, {
    text,
    from: answerText(contents).length - text.length,
  });
  return { text, toolCalls, finishReason, usage: usageAfterCall(turn, last), citations };
}

/** A turn, or the rest of it behind the calls that were `answered`, as a completion. */
export function toCompletion(
  { clock, config }: Pick<RouteDependencies, 'clock' | 'config'>,
  given: {
    handle: SendHandle;
    conversation: Conversation | undefined;
    answered: readonly string[];
    ignored: readonly string[];
    tellsApprovals?: true | undefined;
  },
): Completion {
  const { handle, conversation, answered, ignored, tellsApprovals } = given;
  const { conversationId, turnId: id, generation, replayed } = handle;
  return {
    id: `chatcmpl-${conversationId}-${id}`,
    created: Math.floor(clock.now().getTime() / 1_000),
    model: conversation?.model ?? config.MODEL,
    recap: { conversationId, turnId: id, generation, ...(replayed && { replayed }) },
    ignored,
    frames: (left) => framesAfterCalls(handle.frames(left), answered),
    subscribe: (left) => handle.subscribe(left),
    result: ignoreRejection(
      resultOf(handle, { answered, ...(tellsApprovals && { tellsApprovals }) }),
    ),
  };
}
