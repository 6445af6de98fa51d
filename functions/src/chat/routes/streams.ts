import type { Caller } from '#shared/ports/ports.ts';
import { conversationParams, turnParams } from '#shared/wire/fields.ts';
import { streamQuery, streamResponse } from '#shared/wire/resources/streams.ts';
import { preferredLocale } from '../http/headers.ts';
import { readOwnConversation } from '../conversations/own-conversation.ts';
import { readOwnTurn } from '../turns/stream/read-turn.ts';
import { noBody, userRoute, type RouteDependencies } from '../route.ts';
import { readCursor } from '../turns/stream/stream-cursor.ts';
import { readerReply } from '../turns/stream/stream-reply.ts';
import { streamConversation } from '../turns/stream/stream-conversation.ts';
import { streamTurn } from '../turns/stream/stream-turn.ts';
import { LANGUAGE_HEADER, TURN_HEADER } from './parts/described-headers.ts';

interface Asked {
  caller: Caller;
  query: { startingAfter?: number | undefined };
  header: (name: string) => string | undefined;
}

/** Who reads, and from where on. Throws BAD_FIELD. */
const readerOf = ({ sendMessage }: RouteDependencies, { caller, ...asked }: Asked) => ({
  caller,
  cursor: readCursor(asked),
  locale: preferredLocale(asked.header('accept-language')),
  sendMessage,
});

export const streamConversationRoute = userRoute({
  operation: 'streamConversation',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/stream',
  summary:
    'The stream of the turn that is being answered, or, from `startingAfter` or `Last-Event-ID` on, the rest of a turn or the one after it; 204 when there is none. Event ids name their turn: 10,000,000 times its number, plus the id in the turn’s own stream.',
  params: conversationParams,
  query: streamQuery,
  body: noBody,
  response: streamResponse,
  statuses: [200, 204],
  requestHeaders: LANGUAGE_HEADER,
  responseHeaders: TURN_HEADER,
  errors: ['STREAM_EXPIRED', 'USER_STREAMS'],
  handle: async (dependencies, { caller, params, ...asked }) => {
    const { conversationId } = params;
    const own = await readOwnConversation(dependencies, { caller, conversationId });
    const reader = readerOf(dependencies, { caller, ...asked });
    const stream = await streamConversation(dependencies, own, reader);
    return readerReply(dependencies, own, stream);
  },
});

export const streamTurnRoute = userRoute({
  operation: 'streamTurn',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/turns/{turnId}/stream',
  summary:
    'The stream of a turn, running or finished, from `startingAfter` or `Last-Event-ID` on; 204 when nothing is left.',
  params: turnParams,
  query: streamQuery,
  body: noBody,
  response: streamResponse,
  statuses: [200, 204],
  requestHeaders: LANGUAGE_HEADER,
  responseHeaders: TURN_HEADER,
  errors: ['STREAM_EXPIRED', 'USER_STREAMS'],
  handle: async (dependencies, { caller, params, ...asked }) => {
    const { own, turn } = await readOwnTurn(dependencies, { caller, ...params });
    const reader = readerOf(dependencies, { caller, ...asked });
    const frames = await streamTurn(dependencies, own, { ...reader, turn: turn.value });
    return readerReply(dependencies, own, frames && { turn: turn.value, frames });
  },
});
