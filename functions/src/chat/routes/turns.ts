import { streamConversation, streamTurn } from '../turns/stream/stream-turn.ts';
import { readCursor, readerReply } from './parts/stream-reply.ts';
import { toToolResult } from '../turns/tools/tool-response.ts';
import { readOwnConversation } from '../conversations/own-conversation.ts';
import { json, userRoute, LANGUAGE_HEADER, TURN_HEADER } from '../route.ts';
import { cancelTurn } from '../turns/finish/cancel-turn.ts';
import { readOwnTurn } from '../turns/stream/read-turn.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { turnParams, conversationParams } from '#shared/wire/fields.ts';
import { streamQuery, streamResponse } from '#shared/wire/resources/streams.ts';
import { toolResultsBody } from '#shared/wire/resources/tool-results.ts';
import { turnResponse, turnView } from '#shared/wire/resources/turns.ts';
import { messageReply, turnReply } from './answering.ts';

export const getTurnRoute = userRoute({
  operation: 'getTurn',
  summary: 'How a turn stands: queued, running, done, failed or cancelled, and why.',
  params: turnParams,
  response: turnResponse,
  handle: async (dependencies, { caller, params }) => {
    const { turn } = await readOwnTurn(dependencies, { caller, ...params });
    return json(turnView(turn.value));
  },
});

export const cancelTurnRoute = userRoute({
  operation: 'cancelTurn',
  summary:
    'Stops the answer of a turn; what was said so far stays. A turn that another server answers may still run for a second.',
  params: turnParams,
  response: turnResponse,
  errors: ['TURN_FINISHED'],
  handle: async (dependencies, { caller, params }) =>
    json(turnView(await cancelTurn(dependencies, { caller, ...params }))),
});

export const toolResultsRoute = userRoute({
  operation: 'answerToolCalls',
  summary:
    'Answers calls of the model that the app runs, or allows a tool of the server. When no call is open any more the turn goes on, and its answer comes as that of a message does; before, the turn with its `openCalls`.',
  params: turnParams,
  body: toolResultsBody,
  ...messageReply,
  errors: ['TOOL_CALL_NOT_FOUND', 'TOOL_RESULT_CONFLICT', 'TEXT_TOO_LONG'],
  example: { results: [{ callId: 't_17_c0', output: { latitude: 59.9, longitude: 10.7 } }] },
  handle: async (dependencies, { caller, params, body, header, left, locale }) => {
    const handle = await answerCalls(dependencies, {
      caller,
      ...params,
      results: body.results.map((result, index) =>
        toToolResult(result, `results[${index}].output`),
      ),
      locale: body.locale ?? locale,
    });
    return turnReply(dependencies, handle, { accept: header('accept'), left });
  },
});

/** What routes declare that read a stream. */
const reading = {
  query: streamQuery,
  response: streamResponse,
  statuses: [200, 204],
  requestHeaders: LANGUAGE_HEADER,
  responseHeaders: TURN_HEADER,
  errors: ['STREAM_EXPIRED', 'USER_STREAMS'],
} as const;

export const streamConversationRoute = userRoute({
  operation: 'streamConversation',
  summary:
    'The stream of the turn that is being answered, or, from `startingAfter` or `Last-Event-ID` on, the rest of a turn or the one after it; 204 when there is none. Event ids name their turn: 10,000,000 times its number, plus the id in the turn’s own stream.',
  params: conversationParams,
  ...reading,
  handle: async (dependencies, { caller, params, locale, ...asked }) => {
    const { conversationId } = params;
    const own = await readOwnConversation(dependencies, { caller, conversationId });
    const reader = { caller, cursor: readCursor(asked), locale };
    const stream = await streamConversation(dependencies, own, reader);
    return readerReply(dependencies, own, stream);
  },
});

export const streamTurnRoute = userRoute({
  operation: 'streamTurn',
  summary:
    'The stream of a turn, running or finished, from `startingAfter` or `Last-Event-ID` on; 204 when nothing is left.',
  params: turnParams,
  ...reading,
  handle: async (dependencies, { caller, params, locale, ...asked }) => {
    const { own, turn } = await readOwnTurn(dependencies, { caller, ...params });
    const reader = { caller, cursor: readCursor(asked), locale };
    const frames = await streamTurn(dependencies, own, { ...reader, turn: turn.value });
    return readerReply(dependencies, own, frames && { turn: turn.value, frames });
  },
});
