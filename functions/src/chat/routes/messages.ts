import { listMessages } from '../conversations/list-messages.ts';
import { userRoute, UPLOAD_ERRORS, ANSWER_HEADERS, TURN_HEADER, json } from '../route.ts';
import { readCursor } from './parts/stream-reply.ts';
import { conversationParams, messageParams, listMessagesQuery } from '#shared/wire/fields.ts';
import {
  messageListResponse,
  sendMessageBody,
  sendMessageResponse,
  editMessageBody,
  regenerateBody,
} from '#shared/wire/resources/messages.ts';
import { streamQuery } from '#shared/wire/resources/streams.ts';
import { answerOptions, messageOfBody, turnReply } from './answering.ts';

export const sendMessageRoute = userRoute({
  operation: 'sendMessage',
  summary:
    'Sends a message. `Accept: text/event-stream` streams the answer; else it comes as one JSON. The same message id again attaches to the same answer.',
  params: conversationParams,
  query: streamQuery,
  body: sendMessageBody,
  response: sendMessageResponse,
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
  summary: 'The full original transcript, never the compacted one.',
  params: conversationParams,
  query: listMessagesQuery,
  response: messageListResponse,
  handle: async (dependencies, { caller, params, query }) =>
    json(await listMessages(dependencies, { caller, ...params, ...query })),
});

export const editMessageRoute = userRoute({
  operation: 'editMessage',
  summary:
    'Says something else in place of an earlier message of the user: a new turn answers it, and that message and all after it leave the context. The transcript keeps them. Streams or answers as sending does.',
  params: messageParams,
  query: streamQuery,
  body: editMessageBody,
  response: sendMessageResponse,
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
  summary:
    'Answers the last message anew, named by its id or by its answer’s; the answer so far leaves the context and stays in the transcript. Streams or answers as sending does.',
  params: messageParams,
  query: streamQuery,
  body: regenerateBody,
  response: sendMessageResponse,
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
