import { z } from 'zod';
import {
  compactResponseBody,
  inputItemsQuery,
  responseParams,
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
import { noBody, userRoute } from '#functions/chat/route.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { compactedBody, namedResponse } from './compact-response.ts';
import { addresses, OF_CREATED, STORED_ERRORS } from './declared.ts';
import { toInputItems } from './input-items.ts';
import { readStoredResponse, storedResponse } from './stored-response.ts';

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
