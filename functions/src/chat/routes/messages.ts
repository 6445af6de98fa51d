import { conversationParams } from '#shared/wire/fields.ts';
import {
  messageListResponse,
  sendMessageBody,
  sendMessageResponse,
} from '#shared/wire/resources/messages.ts';
import { listMessagesQuery } from '#shared/wire/queries.ts';
import { streamQuery } from '#shared/wire/resources/streams.ts';
import { listMessages } from '../conversations/list-messages.ts';
import { noBody, userRoute } from '../route.ts';
import { readCursor } from '../turns/stream/stream-cursor.ts';
import { answerOptions, messageOfBody } from './parts/message-body.ts';
import { UPLOAD_ERRORS, ANSWER_HEADERS, TURN_HEADER } from './parts/described-headers.ts';
import { turnReply } from './parts/turn-reply.ts';

export const sendMessageRoute = userRoute({
  operation: 'sendMessage',
  method: 'POST',
  path: '/v1/conversations/{conversationId}/messages',
  summary:
    'Sends a message. `Accept: text/event-stream` streams the answer; else it comes as one JSON. The same message id again attaches to the same answer.',
  params: conversationParams,
  query: streamQuery,
  body: sendMessageBody,
  response: sendMessageResponse,
  statuses: [200],
  media: ['application/json', 'text/event-stream'],
  requestHeaders: ANSWER_HEADERS,
  responseHeaders: TURN_HEADER,
  errors: ['BAD_PART', 'TEXT_TOO_LONG', ...UPLOAD_ERRORS, 'STREAM_EXPIRED', 'CONVERSATION_BUSY'],
  example: {
    message: {
      id: '0190a5d4-7c1e-7b3a-9f00-3d2c1b0a9e8f',
      parts: [{ type: 'text', text: 'What did we decide about the boat?' }],
    },
    locale: 'ko-KR',
  },
  // Sending creates the conversation, so a malformed id is worth telling.
  badParams: 'badArgument',
  handle: async (dependencies, { caller, params, query, body, header, left }) => {
    const handle = await dependencies.sendMessage(dependencies, {
      caller,
      conversationId: params.conversationId,
      message: messageOfBody(dependencies, body.message),
      ...answerOptions(body, header),
      cursor: readCursor({ query, header }),
    });
    return turnReply(dependencies, handle, { accept: header('accept'), left });
  },
});

export const listMessagesRoute = userRoute({
  operation: 'listMessages',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/messages',
  summary: 'The full original transcript, never the compacted one.',
  params: conversationParams,
  query: listMessagesQuery,
  body: noBody,
  response: messageListResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params, query }) => ({
    kind: 'json',
    body: await listMessages(dependencies, { caller, ...params, ...query }),
  }),
});
