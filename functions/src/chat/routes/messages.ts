import { listMessages } from '../conversations/list-messages.ts';
import {
  json,
  UPLOAD_ERRORS,
  userRoute,
  type Reply,
  type RouteDependencies,
  type RouteRequest,
} from '../route.ts';
import type { SendRequest } from '../turns/send/send-request.ts';
import { readCursor } from './parts/stream-reply.ts';
import { conversationParams, messageParams, listMessagesQuery } from '#shared/wire/fields.ts';
import {
  messageListResponse,
  sendMessageBody,
  editMessageBody,
  regenerateBody,
} from '#shared/wire/resources/messages.ts';
import { streamQuery } from '#shared/wire/resources/streams.ts';
import { answerOptions, messageOfBody, messageReply, turnReply } from './answering.ts';
import type { z } from 'zod';

type StreamQuery = z.infer<typeof streamQuery>;

/** Sends what a request brings, and answers as it asks. */
async function answer(
  dependencies: RouteDependencies,
  asked: RouteRequest<{ conversationId: string }, StreamQuery, Parameters<typeof answerOptions>[0]>,
  sent: Pick<SendRequest, 'message' | 'replacing'>,
): Promise<Reply> {
  const { caller, params, body, header, left } = asked;
  const handle = await dependencies.sendMessage(dependencies, {
    caller,
    conversationId: params.conversationId,
    ...sent,
    ...answerOptions(body, header),
    cursor: readCursor(asked),
  });
  return turnReply(dependencies, handle, { accept: header('accept'), left });
}

export const sendMessageRoute = userRoute({
  operation: 'sendMessage',
  summary:
    'Sends a message. `Accept: text/event-stream` streams the answer; else it comes as one JSON. The same message id again attaches to the same answer.',
  params: conversationParams,
  query: streamQuery,
  body: sendMessageBody,
  ...messageReply,
  errors: ['BAD_PART', 'TEXT_TOO_LONG', ...UPLOAD_ERRORS, 'STREAM_EXPIRED'],
  example: {
    message: {
      id: '0190a5d4-7c1e-7b3a-9f00-3d2c1b0a9e8f',
      parts: [{ type: 'text', text: 'What did we decide about the boat?' }],
    },
    locale: 'ko-KR',
  },
  // Sending creates the conversation, so a malformed id is worth telling.
  badParams: 'badArgument',
  handle: (dependencies, asked) =>
    answer(dependencies, asked, { message: messageOfBody(dependencies, asked.body.message) }),
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
  ...messageReply,
  errors: [
    'BAD_PART',
    'TEXT_TOO_LONG',
    ...UPLOAD_ERRORS,
    'STREAM_EXPIRED',
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
  handle: (dependencies, asked) =>
    answer(dependencies, asked, {
      message: messageOfBody(dependencies, asked.body.message),
      replacing: { kind: 'edit', messageId: asked.params.messageId },
    }),
});

export const regenerateRoute = userRoute({
  operation: 'regenerateAnswer',
  summary:
    'Answers the last message anew, named by its id or by its answer’s; the answer so far leaves the context and stays in the transcript. Streams or answers as sending does.',
  params: messageParams,
  query: streamQuery,
  body: regenerateBody,
  ...messageReply,
  errors: ['STREAM_EXPIRED', 'NOT_THE_LAST_ANSWER', 'MESSAGE_REPLACED', 'EDIT_TOO_FAR_BACK'],
  example: { id: '0190a5d4-8a11-7c40-8e21-5f6e7d8c9b0a' },
  handle: (dependencies, asked) =>
    answer(dependencies, asked, {
      message: { id: asked.body.id ?? dependencies.randomness.uuid(), parts: [] },
      replacing: { kind: 'regenerate', messageId: asked.params.messageId },
    }),
});
