import { z } from 'zod';
import {
  createResponseBody,
  responseParams,
  retrieveResponseQuery,
} from '#shared/wire/facades/responses/request.ts';
import { responseResource } from '#shared/wire/facades/responses/response.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { EVENT_HEADERS } from '#functions/chat/http/headers.ts';
import { DISCONNECT_HEADERS, stopsOnDisconnect } from '#functions/chat/turns/stream/leaving.ts';
import { noBody, userRoute, type Reply, type RouteDependencies } from '#functions/chat/route.ts';
import { untilFirstWord } from '../openai/completion-events.ts';
import { stopWhenLeft } from '../openai/stop-when-left.ts';
import { addresses, OF_CREATED, STORED_ERRORS } from './declared.ts';
import { createResponse } from './create-response.ts';
import type { Answering } from './response-events.ts';
import { responseBody, responseText } from './response-text.ts';
import { readStoredResponse, storedAnswering, storedResponse } from './stored-response.ts';

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
    // Refuses an unknown wish before anything is stored, also where no answer could go on.
    stopsOnDisconnect(header);
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
