import {
  chatCompletionBody,
  chatCompletionResponse,
  modelListResponse,
  modelResponse,
} from '#shared/wire/facades/openai.ts';
import { AppError } from '#shared/errors.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { AUTO_MODEL } from '#shared/routing/routing.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { z } from 'zod';
import type { Config } from '#functions/config.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import { EVENT_HEADERS } from '#functions/chat/http/headers.ts';
import { DISCONNECT_HEADERS, stopsOnDisconnect } from '#functions/chat/turns/stream/leaving.ts';
import { noBody, userRoute, type Reply, type RouteDependencies } from '#functions/chat/route.ts';
import type { Completion } from './completion.ts';
import { completionBody, completionText, untilFirstWord } from './completion-events.ts';
import { looseCompletion } from './loose-completion.ts';
import { retrieveCompletion } from './retrieve-completion.ts';
import { stopWhenLeft } from './stop-when-left.ts';
import { storedCompletion } from './stored-completion.ts';

const HEADER = 'x-conversation-id';
const headerSchema = z.object({ 'X-Conversation-Id': conversationIdSchema });

/** The conversation that a request names, in its body or else its header. Throws BAD_FIELD. */
function namedConversation(
  metadata: { conversation_id?: string | undefined } | null | undefined,
  header: (name: string) => string | undefined,
): string | undefined {
  const named = header(HEADER);
  if (metadata?.conversation_id !== undefined || named === undefined)
    return metadata?.conversation_id;
  return parseRequest(headerSchema, { 'X-Conversation-Id': named })['X-Conversation-Id'];
}

async function streamOf(
  dependencies: RouteDependencies,
  given: Completion,
  asked: { includeUsage: boolean; header: (name: string) => string | undefined; left: AbortSignal },
): Promise<Reply> {
  const { clock, heartbeatMs, docsUrl } = dependencies;
  const { includeUsage } = asked;
  const { completion, settled } = stopWhenLeft(dependencies, given, asked);
  await untilFirstWord(completion, { clock, waitMs: heartbeatMs });
  const { recap } = completion;
  return {
    kind: 'stream',
    headers: { ...EVENT_HEADERS, ...(recap && { 'x-turn-id': recap.turnId }) },
    text: ({ left, takeOn }) => {
      takeOn(settled);
      return completionText(completion, { clock, heartbeatMs, docsUrl, left, includeUsage });
    },
    work: completion.result,
  };
}

export const chatCompletionsRoute = userRoute({
  operation: 'openAiChatCompletions',
  method: 'POST',
  path: '/v1/openai/chat/completions',
  summary:
    'For clients of OpenAI’s chat completions. With `metadata.conversation_id` or the header `X-Conversation-Id` the last message is sent to that conversation, or messages of tools at the end answer its open calls; without, nothing is stored.',
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
    'X-Conversation-Id':
      'The conversation, where `metadata` cannot be set; without one nothing is stored.',
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
  handle: async (dependencies, { caller, body, header, requestId, left }) => {
    // Refuses an unknown wish before anything is stored, also where no answer could go on.
    stopsOnDisconnect(header);
    const named = namedConversation(body.metadata, header);
    const conversationId = named && toLowerUuid(named);
    const completion =
      conversationId === undefined
        ? await looseCompletion(dependencies, { caller, body, requestId })
        : await storedCompletion(dependencies, { caller, conversationId, body, header });
    completion.subscribe?.(left);
    if (body.stream === true)
      return streamOf(dependencies, completion, {
        includeUsage: body.stream_options?.include_usage === true,
        header,
        left,
      });
    const { recap } = completion;
    return {
      kind: 'json',
      ...(recap && { headers: { 'x-turn-id': recap.turnId } }),
      body: await completionBody(completion),
    };
  },
});

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
  summary: 'For clients of OpenAI: a completion with a conversation, as it stands now.',
  params: z.object({ completionId: z.string().min(1).max(256) }),
  query: z.object({}),
  body: noBody,
  response: chatCompletionResponse,
  statuses: [200],
  errors: ['CONVERSATION_NOT_FOUND', 'TURN_NOT_FOUND', 'APPROVAL_NEEDED'],
  format: 'openai',
  handle: async (dependencies, { caller, params: { completionId: id } }) => ({
    kind: 'json',
    body: await completionBody(await retrieveCompletion(dependencies, { caller, id })),
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
