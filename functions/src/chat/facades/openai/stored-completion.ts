import { contentText } from '#shared/conversation/documents/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { callId, findCalls } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { answerText } from '#shared/conversation/context/answer-text.ts';
import { urlCitations } from '#shared/grounding/url-citations.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatCompletionBody, OpenAiToolCall } from '#shared/wire/facades/openai.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { answerOptions } from '#functions/chat/routes/parts/message-body.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import { refuseBadSchema } from '#functions/chat/turns/send/send-errors.ts';
import { sendStored } from '#functions/chat/turns/send/send-stored.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { badField } from './bad-field.ts';
import { findInstruction, SCHEMA_FIELD, toUserParts } from './message-content.ts';
import type { Completion, CompletionResult } from './completion.ts';
import { askedOptions, ignoredFields, schemaOfFormat } from './asked-options.ts';
import { editedMessage, sentTurn } from './edited-message.ts';
import { declareTools } from './declare-tools.ts';
import { toMessageId, readOwnConversation } from './message-id.ts';
import {
  framesAfterCalls,
  lastNamedCall,
  textAfterCall,
  usageAfterCall,
} from './rest-of-answer.ts';
import { resultsAtEnd, type GivenResults } from './tool-messages.ts';

interface Asked {
  caller: Caller;
  conversationId: string;
  body: ChatCompletionBody;
  header: (name: string) => string | undefined;
}

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
  answered: readonly string[],
): Promise<CompletionResult> {
  const { turn } = await result;
  const { seq, contents, finishReason, grounding } = turn;
  const toolCalls = toolCallsOf(turn);
  if (turn.state === 'awaiting_tool' && toolCalls.length === 0) throw approvalNeeded(turn);
  const last = lastNamedCall(seq, answered, findCalls(contents).length);
  const text = textAfterCall(contents, last);
  const citations = urlCitations(grounding, {
    text,
    from: answerText(contents).length - text.length,
  });
  return { text, toolCalls, finishReason, usage: usageAfterCall(turn, last), citations };
}

/** Sends the user's message that the request ends with. */
async function sendLast(
  dependencies: RouteDependencies,
  { caller, conversationId, body, header }: Asked,
  conversation: Conversation | undefined,
): Promise<SendHandle> {
  const { MAX_PART_BYTES: maxPartBytes, MAX_MESSAGE_BYTES: maxMessageBytes } = dependencies.config;
  const { messages } = body;
  const last = messages.at(-1);
  if (last?.role !== 'user')
    throw badField('messages', '`messages` must end with a message of the role `user` or `tool`.');
  const parts = toUserParts(last, { maxPartBytes, maxMessageBytes }, messages.length - 1);
  if (parts.length === 0)
    throw badField(`messages[${messages.length - 1}].content`, 'The last message says nothing.');
  const options = askedOptions(body);
  const naming = { conversationId, messages, conversation, header, options };
  const id = await toMessageId(dependencies, naming);
  const sent = conversation && (await sentTurn(dependencies, { conversationId, messageId: id }));
  const asked = {
    caller,
    conversationId,
    ...answerOptions({ clientContext: body.metadata?.client_context }, header),
  };
  if (
    sent?.replaces !== undefined &&
    contentText(sent.user) === contentText({ role: 'user', parts })
  )
    return sendStored(dependencies, {
      ...asked,
      locale: asked.locale,
      cursor: undefined,
      turn: sent,
      sendMessage: dependencies.sendMessage,
    });
  const edited =
    conversation &&
    !sent &&
    (await editedMessage(dependencies, { conversationId, conversation, body }));
  await declareTools(dependencies, {
    caller,
    conversationId,
    conversation,
    tools: body.tools ?? [],
    systemInstruction: isWritable(dependencies.config, 'systemInstruction')
      ? findInstruction(messages)
      : undefined,
  });
  return dependencies.sendMessage(dependencies, {
    ...asked,
    message: { id, parts },
    options,
    ...(edited && { replacing: { kind: 'edit' as const, messageId: edited } }),
  });
}

/** Answers the open calls of a turn. */
const giveResults = (
  dependencies: RouteDependencies,
  { caller, conversationId, header }: Asked,
  given: GivenResults,
): Promise<SendHandle> =>
  answerCalls(dependencies, {
    caller,
    conversationId,
    ...given,
    locale: answerOptions({}, header).locale,
  });

/**
 * Sends the last message of a request as the next one of a conversation, or answers calls of a turn with the
 * messages of tools that it ends with; what stands before it in the request is the client's own copy. Throws
 * BAD_FIELD, TEXT_TOO_LONG, and what sending, answering calls and declaring tools throw.
 */
export async function storedCompletion(
  dependencies: RouteDependencies,
  request: Asked,
): Promise<Completion> {
  const { caller, conversationId, body } = request;
  const ignored = ignoredFields(dependencies.config, body);
  await refuseBadSchema(schemaOfFormat(body), SCHEMA_FIELD);
  const path = conversationPath(conversationId);
  const conversation = await readOwnConversation(dependencies, { uid: caller.uid, path });
  const given = resultsAtEnd(body.messages);
  const answered = given?.results.map((result) => result.callId) ?? [];
  const handle = given
    ? await giveResults(dependencies, request, given)
    : await sendLast(dependencies, request, conversation);
  const { turnId, generation } = handle;
  return {
    id: `chatcmpl-${conversationId}-${turnId}`,
    created: Math.floor(dependencies.clock.now().getTime() / 1_000),
    model: conversation?.model ?? dependencies.config.MODEL,
    recap: { conversationId, turnId, generation },
    ignored,
    frames: (left) => framesAfterCalls(handle.frames(left), answered),
    subscribe: (left) => handle.subscribe(left),
    result: ignoreRejection(resultOf(handle, answered)),
  };
}
