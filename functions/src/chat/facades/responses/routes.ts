import { type RouteDependencies, userRoute, json } from '#functions/chat/route.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import {
  DISCONNECT_HEADERS,
  stopsOnDisconnect,
} from '#functions/chat/facades/translation/leaving.ts';
import { toTurnError } from '#functions/chat/turns/turn-errors.ts';
import { answerId, turnId } from '#shared/conversation/documents/paths.ts';
import {
  createResponseBody,
  inputItemsQuery,
  responseParams,
  retrieveResponseQuery,
} from '#shared/wire/facades/responses/request.ts';
import {
  deletedResponse,
  inputItemList,
  responseResource,
  type ResponseResource,
} from '#shared/wire/facades/responses/response.ts';
import { ANSWER_ERRORS, replyWith, streamAnswer } from '../translation/answer.ts';
import { answerResponse } from './request.ts';
import {
  beginResponse,
  failedResponse,
  frameOfNumber,
  responseBody,
  responseText,
  storedRequest,
  type Responding,
} from './response.ts';
import {
  hasEnded,
  readStoredResponse,
  storedAnswer,
  toInputItems,
  type StoredResponse,
} from './stored-response.ts';
import { z } from 'zod';

const STORED_ERRORS = ['RESPONSE_NOT_FOUND', 'CONVERSATION_NOT_FOUND', 'TURN_NOT_FOUND'] as const;

export const createResponseRoute = userRoute({
  operation: 'createResponse',
  summary:
    'For clients of OpenAI’s Responses API. A message begins a conversation, or goes on in the one of `conversation` or `previous_response_id`; outputs of calls go to the turn that waits for them.',
  query: z.object({}),
  body: createResponseBody,
  response: responseResource,
  media: ['application/json', 'text/event-stream'],
  requestHeaders: {
    ...DISCONNECT_HEADERS,
    'Idempotency-Key': 'Names the message: the same key again is the same message.',
  },
  errors: [...ANSWER_ERRORS, 'RESPONSE_NOT_FOUND', 'MESSAGE_NOT_FOUND', 'FORK_TOO_LARGE'],
  example: { model: 'recap', input: 'What did we decide about the boat?' },
  format: 'openai',
  handle: async (dependencies, { caller, body, header, left }) => {
    // Refuses an unknown wish before anything is stored, also where no answer could go on.
    const stops = stopsOnDisconnect(header) && body.background !== true;
    const { answer, ...told } = await answerResponse(dependencies, { caller, body, header });
    return replyWith(dependencies, answer, {
      left,
      stops,
      isStreamed: body.stream === true,
      text: (watched, options) => responseText(beginResponse(watched, body, told), options),
      body: () => responseBody(beginResponse(answer, body, told)),
    });
  },
});

/** A stored response with the events behind number `after`; undefined: all of it. */
function respondingOf(
  dependencies: RouteDependencies,
  stored: StoredResponse,
  after?: number,
): Responding {
  const cursor = after === undefined ? undefined : frameOfNumber(after);
  const answer = storedAnswer(dependencies, stored, cursor);
  const { answeredCalls } = stored.place;
  const asked = storedRequest(stored.own.conversation.value);
  return beginResponse(answer, asked, { answeredCalls, ignored: [] });
}

/** A stored response as it stands now: queued and running ones without their output. */
async function storedResponse(
  dependencies: RouteDependencies,
  stored: StoredResponse,
): Promise<ResponseResource> {
  const { turn } = stored;
  const responding = respondingOf(dependencies, stored);
  if (!hasEnded(stored))
    return { ...responding.response, status: turn.state === 'queued' ? 'queued' : 'in_progress' };
  const error = turn.state === 'failed' && toTurnError(turn);
  return error ? failedResponse(responding, error, dependencies.docsUrl) : responseBody(responding);
}

export const retrieveResponseRoute = userRoute({
  operation: 'retrieveResponse',
  summary: 'A stored response as it stands now; with `stream=true` its events.',
  params: responseParams,
  query: retrieveResponseQuery,
  response: responseResource,
  media: ['application/json', 'text/event-stream'],
  errors: [...STORED_ERRORS, 'STREAM_EXPIRED'],
  format: 'openai',
  handle: async (dependencies, { caller, params, query, left }) => {
    const stored = await readStoredResponse(dependencies, { caller, id: params.responseId });
    if (!query.stream) return json(await storedResponse(dependencies, stored));
    const after = query.starting_after;
    const { answer, ...begun } = respondingOf(dependencies, stored, after);
    return streamAnswer(dependencies, answer, {
      left,
      stops: false,
      text: (watched, options) =>
        responseText({ answer: watched, ...begun }, { ...options, after }),
    });
  },
});

export const cancelResponseRoute = userRoute({
  operation: 'cancelResponse',
  summary: 'Stops a response; what was said so far stays.',
  params: responseParams,
  body: z.unknown(),
  response: responseResource,
  errors: [...STORED_ERRORS, 'TURN_FINISHED', 'CONVERSATION_BUSY'],
  format: 'openai',
  handle: async (dependencies, { caller, params: { responseId: id } }) => {
    const { place } = await readStoredResponse(dependencies, { caller, id });
    const { conversationId, seq } = place;
    await cancelTurn(dependencies, { caller, conversationId, turnId: turnId(seq) });
    const stored = await readStoredResponse(dependencies, { caller, id });
    return json(await storedResponse(dependencies, stored));
  },
});

export const listInputItemsRoute = userRoute({
  operation: 'listResponseInputItems',
  summary: 'What a stored response answers: the message, or what tools gave. One page holds all.',
  params: responseParams,
  query: inputItemsQuery,
  response: inputItemList,
  errors: STORED_ERRORS,
  format: 'openai',
  handle: async (dependencies, { caller, params, query }) => {
    const all = toInputItems(
      await readStoredResponse(dependencies, { caller, id: params.responseId }),
    );
    const ordered = query.order === 'asc' ? all : all.toReversed();
    const data = ordered.slice(ordered.findIndex(({ id }) => id === query.after) + 1);
    const page = { first_id: data.at(0)?.id ?? '', last_id: data.at(-1)?.id ?? '' };
    return json({ object: 'list', data, ...page, has_more: false });
  },
});

export const deleteResponseRoute = userRoute({
  operation: 'deleteResponse',
  summary: 'Erases the answer that a response is part of, from transcript and context.',
  params: responseParams,
  body: z.unknown(),
  response: deletedResponse,
  errors: [...STORED_ERRORS, 'MESSAGE_NOT_FOUND', 'TURN_IN_PROGRESS', 'CONVERSATION_BUSY'],
  format: 'openai',
  handle: async (dependencies, { caller, params: { responseId: id } }) => {
    const { place } = await readStoredResponse(dependencies, { caller, id });
    const { conversationId, seq } = place;
    await deleteMessage(dependencies, { caller, conversationId, messageId: answerId(seq) });
    return json({ id, object: 'response', deleted: true });
  },
});
