import { z } from 'zod';
import {
  compactResponseBody,
  createResponseBody,
  inputItemsQuery,
  responseParams,
  retrieveResponseQuery,
} from '#shared/wire/facades/responses/request.ts';
import {
  compactedResponse,
  deletedResponse,
  inputItemList,
  responseResource,
} from '#shared/wire/facades/responses/response.ts';
import { answerId, turnId } from '#shared/conversation/documents/paths.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { requestCompaction } from '#functions/chat/context/request-compaction.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { EVENT_HEADERS } from '#functions/chat/http/headers.ts';
import { noBody, userRoute, type Reply, type RouteDependencies } from '#functions/chat/route.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { untilFirstWord } from '../openai/completion-events.ts';
import { DISCONNECT_HEADERS, stopWhenLeft } from '../openai/stop-when-left.ts';
import { compactedBody, namedResponse } from './compact-response.ts';
import { createResponse } from './create-response.ts';
import { toInputItems } from './input-items.ts';
import type { Answering } from './response-events.ts';
import { responseBody, responseText } from './response-text.ts';
import { readStoredResponse, storedAnswering, storedResponse } from './stored-response.ts';

/** Where the Responses API is served: OpenAI's clients take a base address, others this one. */
const addresses = (path: string) => ({
  path: `/v1/openai/responses${path}`,
  aliases: [`/v1/responses${path}`],
});

const headersOf = ({ completion: { recap } }: Answering): Record<string, string> =>
  recap ? { 'x-turn-id': recap.turnId } : {};

function streamOf(
  { clock, heartbeatMs, docsUrl }: RouteDependencies,
  answering: Answering,
  {
    after,
    work,
    settled = Promise.resolve(),
  }: { after: number | undefined; work: Promise<unknown>; settled?: Promise<void> },
): Reply {
  return {
    kind: 'stream',
    headers: { ...EVENT_HEADERS, ...headersOf(answering) },
    text: ({ left, takeOn }) => {
      takeOn(settled);
      return responseText(answering, { clock, heartbeatMs, docsUrl, left, after });
    },
    work,
  };
}

const ANSWER_ERRORS = [
  'TEXT_TOO_LONG',
  'CONVERSATION_NOT_FOUND',
  'RESPONSE_NOT_FOUND',
  'MESSAGE_NOT_FOUND',
  'USER_DAILY_CREATIONS',
  'ANONYMOUS_LIMIT',
  'ANSWER_RESTARTED',
  'FIELD_NOT_WRITABLE',
  'TOOL_NAME_TAKEN',
  'TOOL_CALL_NOT_FOUND',
  'TOOL_RESULT_CONFLICT',
  'FORK_TOO_LARGE',
] as const;

const STORED_ERRORS = ['RESPONSE_NOT_FOUND', 'CONVERSATION_NOT_FOUND', 'TURN_NOT_FOUND'] as const;

/** What an answer is found by. */
const OF_CREATED = { createResponse: { parameters: { responseId: '$response.body#/id' } } };

export const createResponseRoute = userRoute({
  operation: 'createResponse',
  method: 'POST',
  ...addresses(''),
  summary:
    'For clients of OpenAI’s Responses API. A message begins a conversation, or goes on in the one of `conversation` or `previous_response_id`; a whole dialogue, and `store: false`, is answered without storing it.',
  params: noQuery,
  query: z.object({}),
  body: createResponseBody,
  response: responseResource,
  statuses: [200],
  media: ['application/json', 'text/event-stream'],
  requestHeaders: {
    ...DISCONNECT_HEADERS,
    'Idempotency-Key': 'Names the message: the same key again is the same message.',
  },
  errors: ANSWER_ERRORS,
  example: { model: 'recap', input: 'What did we decide about the boat?' },
  format: 'openai',
  handle: async (dependencies, { caller, body, header, requestId, left }) => {
    const { clock, heartbeatMs } = dependencies;
    const answering = await createResponse(dependencies, { caller, body, header, requestId });
    const { completion } = answering;
    completion.subscribe?.(left);
    if (body.stream === true) {
      const watched =
        body.background === true
          ? { completion, settled: Promise.resolve() }
          : stopWhenLeft(dependencies, completion, { header, left });
      await untilFirstWord(completion, { clock, waitMs: heartbeatMs });
      const { settled } = watched;
      return streamOf(
        dependencies,
        { ...answering, completion: watched.completion },
        { after: undefined, work: completion.result, settled },
      );
    }
    return {
      kind: 'json',
      headers: headersOf(answering),
      body: await responseBody(answering, { clock }),
    };
  },
});

export const retrieveResponseRoute = userRoute({
  operation: 'retrieveResponse',
  follows: OF_CREATED,
  method: 'GET',
  ...addresses('/{responseId}'),
  summary: 'A stored response as it stands now; with `stream=true` its events.',
  params: responseParams,
  query: retrieveResponseQuery,
  body: noBody,
  response: responseResource,
  statuses: [200],
  media: ['application/json', 'text/event-stream'],
  errors: [...STORED_ERRORS, 'STREAM_EXPIRED'],
  format: 'openai',
  handle: async (dependencies, { caller, params, query }) => {
    const read = await readStoredResponse(dependencies, { caller, id: params.responseId });
    const stored = { ...read, caller };
    if (query.stream !== true)
      return { kind: 'json', body: await storedResponse(dependencies, stored) };
    const after = query.starting_after;
    const answering = storedAnswering(dependencies, stored, after);
    return streamOf(dependencies, answering, { after, work: Promise.resolve() });
  },
});

export const cancelResponseRoute = userRoute({
  operation: 'cancelResponse',
  follows: OF_CREATED,
  method: 'POST',
  ...addresses('/{responseId}/cancel'),
  summary: 'Stops a response; what was said so far stays.',
  params: responseParams,
  query: noQuery,
  body: z.unknown(),
  response: responseResource,
  statuses: [200],
  errors: [...STORED_ERRORS, 'TURN_FINISHED', 'CONVERSATION_BUSY'],
  format: 'openai',
  handle: async (dependencies, { caller, params: { responseId: id } }) => {
    const { place } = await readStoredResponse(dependencies, { caller, id });
    const { conversationId, seq } = place;
    await cancelTurn(dependencies, { caller, conversationId, turnId: turnId(seq) });
    const stored = await readStoredResponse(dependencies, { caller, id });
    return { kind: 'json', body: await storedResponse(dependencies, { ...stored, caller }) };
  },
});

export const listInputItemsRoute = userRoute({
  operation: 'listResponseInputItems',
  follows: OF_CREATED,
  method: 'GET',
  ...addresses('/{responseId}/input_items'),
  summary: 'What a stored response answers: the message, or what tools gave. One page holds all.',
  params: responseParams,
  query: inputItemsQuery,
  body: noBody,
  response: inputItemList,
  statuses: [200],
  errors: STORED_ERRORS,
  format: 'openai',
  handle: async (dependencies, { caller, params, query }) => {
    const all = toInputItems(
      await readStoredResponse(dependencies, { caller, id: params.responseId }),
    );
    const ordered = query.order === 'asc' ? all : all.toReversed();
    const data = ordered.slice(ordered.findIndex(({ id }) => id === query.after) + 1);
    return {
      kind: 'json',
      body: {
        object: 'list',
        data,
        first_id: data.at(0)?.id ?? '',
        last_id: data.at(-1)?.id ?? '',
        has_more: false,
      },
    };
  },
});

export const deleteResponseRoute = userRoute({
  operation: 'deleteResponse',
  follows: OF_CREATED,
  method: 'DELETE',
  ...addresses('/{responseId}'),
  summary: 'Erases the answer that a response is part of, from transcript and context.',
  params: responseParams,
  query: noQuery,
  body: z.unknown(),
  response: deletedResponse,
  statuses: [200],
  errors: [...STORED_ERRORS, 'MESSAGE_NOT_FOUND', 'TURN_IN_PROGRESS', 'CONVERSATION_BUSY'],
  format: 'openai',
  handle: async (dependencies, { caller, params: { responseId: id } }) => {
    const { place } = await readStoredResponse(dependencies, { caller, id });
    const { conversationId, seq } = place;
    await deleteMessage(dependencies, { caller, conversationId, messageId: answerId(seq) });
    return { kind: 'json', body: { id, object: 'response', deleted: true } };
  },
});

export const compactResponseRoute = userRoute({
  operation: 'compactResponse',
  follows: { createResponse: { requestBody: { previous_response_id: '$response.body#/id' } } },
  method: 'POST',
  ...addresses('/compact'),
  summary:
    'Asks for a compaction of the conversation of `previous_response_id`, and gives an item that stands for all of it.',
  params: noQuery,
  query: noQuery,
  body: compactResponseBody,
  response: compactedResponse,
  statuses: [200],
  errors: [
    ...STORED_ERRORS,
    'COMPACTION_RUNNING',
    'COMPACTION_LIMIT',
    'USER_DAILY_USD',
    'GLOBAL_BUDGET',
    'CONVERSATION_BUSY',
  ],
  example: {
    model: 'recap',
    previous_response_id: 'resp_0190a5d4-6b0d-7c52-8f4e-1a2b3c4d5e6f_t_9',
  },
  format: 'openai',
  handle: async (dependencies, { caller, body }) => {
    const id = namedResponse(body);
    const { own } = await readStoredResponse(dependencies, { caller, id });
    const { conversationId } = own;
    const job = await requestCompaction(dependencies, { caller, conversationId });
    return {
      kind: 'json',
      body: compactedBody(dependencies, { own, job }),
    };
  },
});
