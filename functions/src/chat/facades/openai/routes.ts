import { z } from 'zod';
import { callId, findCalls } from '#shared/conversation/context/tool-calls.ts';
import { AppError } from '#shared/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { AUTO_MODEL } from '#shared/routing/routing.ts';
import {
  chatCompletionBody,
  chatCompletionResponse,
  modelListResponse,
  modelResponse,
} from '#shared/wire/facades/openai.ts';
import { noQuery } from '#shared/wire/queries.ts';
import type { Config } from '#functions/config.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import { noBody, userRoute, type RouteDependencies } from '#functions/chat/route.ts';
import { sendStored } from '#functions/chat/turns/send/send-stored.ts';
import { DISCONNECT_HEADERS, stopsOnDisconnect } from '#functions/chat/turns/stream/leaving.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import { toAnswer, streamAnswer } from '../translation/answer.ts';
import { completionBody, completionText, type Completion } from './completion.ts';
import { answerCompletion } from './request.ts';

export const chatCompletionsRoute = userRoute({
  operation: 'openAiChatCompletions',
  method: 'POST',
  path: '/v1/openai/chat/completions',
  summary:
    'For clients of OpenAI’s chat completions. The last message is sent to the conversation of `metadata.conversation_id` or of the header `X-Conversation-Id`, or messages of tools at the end answer its open calls.',
  params: noQuery,
  query: z.object({}),
  body: chatCompletionBody,
  response: chatCompletionResponse,
  follows: {
    openAiListModels: { requestBody: { model: '$response.body#/data/0/id' } },
    createConversation: { parameters: { 'header.X-Conversation-Id': '$response.body#/id' } },
  },
  statuses: [200],
  media: ['application/json', 'text/event-stream'],
  requestHeaders: {
    ...DISCONNECT_HEADERS,
    'X-Conversation-Id': 'The conversation, where `metadata` cannot be set.',
    'Idempotency-Key': 'Names the message: the same key again is the same message.',
  },
  errors: [
    'TEXT_TOO_LONG',
    'CONVERSATION_NOT_FOUND',
    'USER_DAILY_CREATIONS',
    'ANONYMOUS_LIMIT',
    'ANSWER_RESTARTED',
    'FIELD_NOT_WRITABLE',
    'TOOL_NAME_TAKEN',
    'TOOL_CALL_NOT_FOUND',
    'TOOL_RESULT_CONFLICT',
    'APPROVAL_NEEDED',
    'MESSAGE_REPLACED',
    'EDIT_TOO_FAR_BACK',
  ],
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
    given.subscribe(left);
    const includeUsage = body.stream_options?.include_usage === true;
    if (body.stream === true)
      return streamAnswer(dependencies, given, {
        left,
        stops,
        text: (answer, options) =>
          completionText({ answer, ignored }, { ...options, includeUsage }),
      });
    return {
      kind: 'json',
      headers: { 'x-turn-id': given.recap.turnId },
      body: await completionBody(completion),
    };
  },
});

/** `chatcmpl-{conversationId}-{turnId}`, as an answer is called. */
const STORED_ID = /^chatcmpl-([0-9a-f-]{36})-(t_\d+)$/i;

const notStored = () =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'COMPLETION_NOT_FOUND',
    message: 'a completion that is not stored was asked for',
    publicMessage:
      'There is no such completion. The id of one is `chatcmpl-{conversationId}-{turnId}`.',
  });

/** A completion that was given before, as it stands now. Throws COMPLETION_NOT_FOUND, NOT_FOUND, TURN_NOT_FOUND. */
async function readCompletion(
  dependencies: RouteDependencies,
  { caller, id }: { caller: Caller; id: string },
): Promise<Completion> {
  const [, named, turnId] = STORED_ID.exec(id) ?? [];
  if (named === undefined || turnId === undefined) throw notStored();
  const conversationId = toLowerUuid(named);
  const { own, turn } = await readOwnTurn(dependencies, { caller, conversationId, turnId });
  const { sendMessage } = dependencies;
  const handle = await sendStored(dependencies, {
    caller,
    conversationId,
    locale: undefined,
    cursor: undefined,
    isReader: true,
    turn: turn.value,
    sendMessage,
  });
  const conversation = own.conversation.value;
  const { seq, contents, rounds } = turn.value;
  // All answers of a turn have one id: it names the newest of them.
  const answered = findCalls(contents)
    .filter(({ index, response }) => response && rounds?.app.includes(index))
    .map(({ index }) => callId(seq, index));
  return { answer: toAnswer(dependencies, { handle, conversation, answered }), ignored: [] };
}

const noSuchModel = (model: string, known: readonly string[]) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'MODEL_NOT_FOUND',
    message: `a client asked for the model ${model}`,
    publicMessage: `There is no such model here. There ${known.length === 1 ? 'is' : 'are'} ${known.join(' and ')}.`,
    metadata: { field: 'model' },
  });

export const retrieveCompletionRoute = userRoute({
  operation: 'openAiRetrieveChatCompletion',
  follows: {
    openAiChatCompletions: { parameters: { completionId: '$response.body#/id' } },
  },
  method: 'GET',
  path: '/v1/openai/chat/completions/{completionId}',
  summary: 'For clients of OpenAI: a completion that was given before, as it stands now.',
  params: z.object({ completionId: z.string().min(1).max(256) }),
  query: z.object({}),
  body: noBody,
  response: chatCompletionResponse,
  statuses: [200],
  errors: ['CONVERSATION_NOT_FOUND', 'TURN_NOT_FOUND', 'APPROVAL_NEEDED'],
  format: 'openai',
  handle: async (dependencies, { caller, params: { completionId: id } }) => ({
    kind: 'json',
    body: await completionBody(await readCompletion(dependencies, { caller, id })),
  }),
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
  method: 'GET',
  path: '/v1/openai/models/{model}',
  summary: 'For clients of OpenAI: one of the models that the list names.',
  params: z.object({ model: z.string().min(1).max(256) }),
  query: z.object({}),
  body: noBody,
  response: modelResponse,
  statuses: [200],
  format: 'openai',
  handle: ({ config }, { params: { model } }) => {
    const known = modelsOf(config);
    if (!known.includes(model)) return Promise.reject(noSuchModel(model, known));
    return Promise.resolve({ kind: 'json', body: modelView(model) });
  },
});

export const listModelsRoute = userRoute({
  operation: 'openAiListModels',
  method: 'GET',
  path: '/v1/openai/models',
  summary: 'For clients of OpenAI: the model that answers, and `auto` where there is a choice.',
  params: noQuery,
  query: z.object({}),
  body: noBody,
  response: modelListResponse,
  statuses: [200],
  format: 'openai',
  handle: ({ config }) =>
    Promise.resolve({
      kind: 'json',
      body: {
        object: 'list',
        data: modelsOf(config).map(modelView),
      },
    }),
});
