import { badField, AppError } from '#shared/lib/errors.ts';
import { type RouteDependencies, json, userRoute } from '#functions/chat/route.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import {
  findInstructions,
  instructionTexts,
  lastMessage,
  outputsAtEnd,
  type DialogueMessage,
  sendDialogue,
  sendOutputs,
  type Header,
} from '#functions/chat/facades/translation/dialogue.ts';
import {
  ignoredFields,
  toAnswerOptions,
  toClientTools,
  toInstruction,
  toParts,
  type Wish,
} from '#functions/chat/facades/translation/wish.ts';
import { answerOptions } from '#functions/chat/routes/answering.ts';
import { storedRequest } from '#functions/chat/turns/send/send-request.ts';
import {
  DISCONNECT_HEADERS,
  stopsOnDisconnect,
} from '#functions/chat/facades/translation/leaving.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import type { Config } from '#functions/config.ts';
import { callId, findCalls } from '#shared/conversation/context/tool-calls.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { AUTO_MODEL } from '#shared/models/routing.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import {
  chatCompletionBody,
  type ChatCompletionBody,
  type OpenAiMessage,
  chatCompletionResponse,
  modelListResponse,
  modelResponse,
} from '#shared/wire/facades/openai.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { ANSWER_ERRORS, toAnswer, replyWith } from '../translation/answer.ts';
import { type Completion, completionBody, completionText } from './completion.ts';
import { z } from 'zod';

interface Asked {
  caller: Caller;
  body: ChatCompletionBody;
  header: Header;
}

const headerSchema = z.object({ 'X-Conversation-Id': conversationIdSchema });

/** The conversation that a request names, in its body or else its header. Throws BAD_FIELD where it names none. */
function namedConversation({ body: { metadata }, header }: Asked): string {
  const named = header('x-conversation-id');
  if (metadata?.conversation_id !== undefined) return metadata.conversation_id;
  if (named !== undefined)
    return parseRequest(headerSchema, { 'X-Conversation-Id': named })['X-Conversation-Id'];
  throw badField(
    'metadata.conversation_id',
    '`metadata.conversation_id` is missing: every answer belongs to a conversation here. Draw a UUID with `crypto.randomUUID()`, keep it, and send it with each message of the dialogue, or in the header `X-Conversation-Id`; the first message creates the conversation.',
  );
}

function toDialogueMessage(message: OpenAiMessage, index: number): DialogueMessage {
  const { role, content } = message;
  const field = `messages[${index}].content`;
  switch (role) {
    case 'user':
    case 'assistant':
      return { role, content, field };
    case 'system':
    case 'developer':
      return { role: 'instruction', content, field: `messages[${index}]` };
    case 'tool': {
      const call = { id: message.tool_call_id, field: `messages[${index}].tool_call_id` };
      return { role: 'output', content, field, call };
    }
  }
}

function optionsOf(body: ChatCompletionBody): Wish['options'] {
  const { tool_choice: choice, response_format: format } = body;
  return toAnswerOptions({
    temperature: body.temperature,
    topP: body.top_p,
    seed: body.seed,
    stop: body.stop,
    effort: body.reasoning_effort,
    toolChoice: typeof choice === 'object' && choice ? { name: choice.function.name } : choice,
    format: format?.type,
    responseSchema: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
  });
}

/**
 * Sends the last message of a request as the next one of a conversation, or answers calls of a turn with the messages of
 * tools that it ends with; what stands before it in the request is the client's own copy. Throws BAD_FIELD,
 * TEXT_TOO_LONG, and what sending, answering calls and declaring tools throw.
 */
export async function answerCompletion(
  dependencies: RouteDependencies,
  asked: Asked,
): Promise<Completion> {
  const { caller, body, header } = asked;
  const { config } = dependencies;
  const named = namedConversation(asked);
  const conversationId = toLowerUuid(named);
  const ignored = ignoredFields(body, new Set(Object.keys(chatCompletionBody.shape)));
  const messages = body.messages.map(toDialogueMessage);
  const instructions = findInstructions(messages).map(({ field }) => field);
  // Nearly every client brings an instruction: it is told, and nobody is turned away for it.
  if (!isWritable(config, 'systemInstruction')) ignored.push(...instructions);
  const sender = { caller, header, conversationId };
  const outputs = outputsAtEnd(messages);
  if (outputs.length > 0)
    return { answer: await sendOutputs(dependencies, sender, outputs), ignored };
  const last = lastMessage(messages, { joins: false, field: 'messages' });
  const wish: Wish = {
    parts: toParts(config, last.input, last.field),
    options: optionsOf(body),
    circumstances: answerOptions({ clientContext: body.metadata?.client_context }, header),
    tools: toClientTools((body.tools ?? []).map((tool) => tool.function)),
    systemInstruction: toInstruction(config, instructionTexts(messages), instructions[0] ?? ''),
    maxTokensField:
      typeof body.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens',
  };
  const shown = { turns: last.shown, isWhole: body.metadata?.history === 'whole' };
  const answer = await sendDialogue(dependencies, sender, { shown, said: last.said, wish });
  return { answer, ignored };
}

export const chatCompletionsRoute = userRoute({
  operation: 'openAiChatCompletions',
  summary:
    'For clients of OpenAI’s chat completions. The last message is sent to the conversation of `metadata.conversation_id` or of the header `X-Conversation-Id`, or messages of tools at the end answer its open calls.',
  query: z.object({}),
  body: chatCompletionBody,
  response: chatCompletionResponse,
  media: ['application/json', 'text/event-stream'],
  requestHeaders: {
    ...DISCONNECT_HEADERS,
    'X-Conversation-Id': 'The conversation, where `metadata` cannot be set.',
    'Idempotency-Key': 'Names the message: the same key again is the same message.',
  },
  errors: [...ANSWER_ERRORS, 'APPROVAL_NEEDED', 'MESSAGE_REPLACED', 'EDIT_TOO_FAR_BACK'],
  example: {
    model: 'recap',
    messages: [{ role: 'user', content: 'What did we decide about the boat?' }],
    metadata: { conversation_id: '0190a5d4-6b0d-7c52-8f4e-1a2b3c4d5e6f' },
  },
  format: 'openai',
  handle: async (dependencies, { caller, body, header, left }) => {
    // Refuses an unknown wish before anything is stored, also where no answer could go on.
    const stops = stopsOnDisconnect(header);
    const completion = await answerCompletion(dependencies, { caller, body, header });
    const { ignored, answer: given } = completion;
    const includeUsage = body.stream_options?.include_usage === true;
    return replyWith(dependencies, given, {
      left,
      stops,
      isStreamed: body.stream === true,
      text: (answer, options) => completionText({ answer, ignored }, { ...options, includeUsage }),
      body: () => completionBody(completion),
    });
  },
});

/** `chatcmpl-{conversationId}-{turnId}`, as an answer is called. */
const STORED_ID = /^chatcmpl-([0-9a-f-]{36})-(t_\d+)$/i;

/** A completion that was given before, as it stands now. Throws COMPLETION_NOT_FOUND, NOT_FOUND, TURN_NOT_FOUND. */
async function readCompletion(
  dependencies: RouteDependencies,
  { caller, id }: { caller: Caller; id: string },
): Promise<Completion> {
  const [, named, turnId] = STORED_ID.exec(id) ?? [];
  if (named === undefined || turnId === undefined)
    throw new AppError({
      reason: 'COMPLETION_NOT_FOUND',
      publicMessage:
        'There is no such completion. The id of one is `chatcmpl-{conversationId}-{turnId}`.',
    });
  const conversationId = toLowerUuid(named);
  const { own, turn } = await readOwnTurn(dependencies, { caller, conversationId, turnId });
  const reader = { caller, conversationId, locale: undefined, cursor: undefined } as const;
  const request = storedRequest({ ...reader, isReader: true }, turn.value);
  const handle = await dependencies.sendMessage(dependencies, request);
  const conversation = own.conversation.value;
  const { seq, contents, rounds } = turn.value;
  // All answers of a turn have one id: it names the newest of them.
  const answered = findCalls(contents)
    .filter(({ index, response }) => response && rounds?.app.includes(index))
    .map(({ index }) => callId(seq, index));
  return { answer: toAnswer(dependencies, { handle, conversation, answered }), ignored: [] };
}

export const retrieveCompletionRoute = userRoute({
  operation: 'openAiRetrieveChatCompletion',
  summary: 'For clients of OpenAI: a completion that was given before, as it stands now.',
  params: z.object({ completionId: z.string().min(1).max(256) }),
  query: z.object({}),
  response: chatCompletionResponse,
  errors: ['CONVERSATION_NOT_FOUND', 'TURN_NOT_FOUND', 'APPROVAL_NEEDED'],
  format: 'openai',
  handle: async (dependencies, { caller, params: { completionId: id } }) =>
    json(await completionBody(await readCompletion(dependencies, { caller, id }))),
});

/** What a conversation may be answered by without a field of its own, and `auto` where it may be that. */
const modelsOf = ({ MODEL, routing }: Pick<Config, 'MODEL' | 'routing'>): string[] => [
  ...new Set([MODEL, ...(routing ? [AUTO_MODEL] : [])]),
];

const modelView = (id: string) => ({
  id,
  object: 'model' as const,
  created: 0,
  owned_by: 'recap' as const,
});

export const retrieveModelRoute = userRoute({
  operation: 'openAiRetrieveModel',
  summary: 'For clients of OpenAI: one of the models that the list names.',
  params: z.object({ model: z.string().min(1).max(256) }),
  query: z.object({}),
  response: modelResponse,
  format: 'openai',
  handle: ({ config }, { params: { model } }) => {
    const known = modelsOf(config);
    if (!known.includes(model))
      throw new AppError({
        reason: 'MODEL_NOT_FOUND',
        publicMessage: `There is no such model here. There ${known.length === 1 ? 'is' : 'are'} ${known.join(' and ')}.`,
        metadata: { field: 'model' },
      });
    return json(modelView(model));
  },
});

export const listModelsRoute = userRoute({
  operation: 'openAiListModels',
  summary: 'For clients of OpenAI: the model that answers, and `auto` where there is a choice.',
  query: z.object({}),
  response: modelListResponse,
  format: 'openai',
  handle: ({ config }) => json({ object: 'list', data: modelsOf(config).map(modelView) }),
});
