import { messageParams } from '#shared/wire/fields.ts';
import {
  editMessageBody,
  regenerateBody,
  sendMessageResponse,
} from '#shared/wire/resources/messages.ts';
import { streamQuery } from '#shared/wire/resources/streams.ts';
import { userRoute } from '../route.ts';
import { readCursor } from '../turns/stream/stream-cursor.ts';
import { answerOptions, messageOfBody } from './parts/message-body.ts';
import { UPLOAD_ERRORS, ANSWER_HEADERS, TURN_HEADER } from './parts/described-headers.ts';
import { turnReply } from './parts/turn-reply.ts';

export const editMessageRoute = userRoute({
  operation: 'editMessage',
  method: 'POST',
  path: '/v1/conversations/{conversationId}/messages/{messageId}:edit',
  summary:
    'Says something else in place of an earlier message of the user: a new turn answers it, and that message and all after it leave the context. The transcript keeps them. Streams or answers as sending does.',
  params: messageParams,
  query: streamQuery,
  body: editMessageBody,
  response: sendMessageResponse,
  statuses: [200],
  media: ['application/json', 'text/event-stream'],
  requestHeaders: ANSWER_HEADERS,
  responseHeaders: TURN_HEADER,
  errors: [
    'BAD_PART',
    'TEXT_TOO_LONG',
    ...UPLOAD_ERRORS,
    'STREAM_EXPIRED',
    'CONVERSATION_BUSY',
    'NOT_A_USER_MESSAGE',
    'MESSAGE_REPLACED',
    'EDIT_TOO_FAR_BACK',
  ],
  example: {
    message: {
      id: '0190a5d4-7c1e-7b3a-9f00-3d2c1b0a9e8f',
      parts: [{ type: 'text', text: 'And if it rains?' }],
    },
    locale: 'ko-KR',
  },
  handle: async (dependencies, { caller, params, query, body, header, left }) => {
    const { conversationId, messageId } = params;
    const handle = await dependencies.sendMessage(dependencies, {
      caller,
      conversationId,
      message: messageOfBody(dependencies, body.message),
      replacing: { kind: 'edit', messageId },
      ...answerOptions(body, header),
      cursor: readCursor({ query, header }),
    });
    return turnReply(dependencies, handle, { accept: header('accept'), left });
  },
});

export const regenerateRoute = userRoute({
  operation: 'regenerateAnswer',
  method: 'POST',
  path: '/v1/conversations/{conversationId}/messages/{messageId}:regenerate',
  summary:
    'Answers the last message anew, named by its id or by its answer’s; the answer so far leaves the context and stays in the transcript. Streams or answers as sending does.',
  params: messageParams,
  query: streamQuery,
  body: regenerateBody,
  response: sendMessageResponse,
  statuses: [200],
  media: ['application/json', 'text/event-stream'],
  requestHeaders: ANSWER_HEADERS,
  responseHeaders: TURN_HEADER,
  errors: [
    'STREAM_EXPIRED',
    'CONVERSATION_BUSY',
    'NOT_THE_LAST_ANSWER',
    'MESSAGE_REPLACED',
    'EDIT_TOO_FAR_BACK',
  ],
  example: { id: '0190a5d4-8a11-7c40-8e21-5f6e7d8c9b0a' },
  handle: async (dependencies, { caller, params, query, body, header, left }) => {
    const { conversationId, messageId } = params;
    const handle = await dependencies.sendMessage(dependencies, {
      caller,
      conversationId,
      message: { id: body.id ?? dependencies.randomness.uuid(), parts: [] },
      replacing: { kind: 'regenerate', messageId },
      ...answerOptions(body, header),
      cursor: readCursor({ query, header }),
    });
    return turnReply(dependencies, handle, { accept: header('accept'), left });
  },
});
