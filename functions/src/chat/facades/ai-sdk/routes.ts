import { seqOfId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import { aiSdkChatBody, aiSdkChatParams } from '#shared/wire/facades/ai-sdk.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { streamResponse } from '#shared/wire/resources/streams.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { preferredLocale } from '#functions/chat/http/headers.ts';
import { noBody, userRoute, type StreamReader } from '#functions/chat/route.ts';
import { UPLOAD_ERRORS, TURN_HEADER } from '#functions/chat/routes/parts/described-headers.ts';
import { turnReply } from '#functions/chat/routes/parts/turn-reply.ts';
import { streamConversation } from '#functions/chat/turns/stream/stream-conversation.ts';
import { readerReply } from '#functions/chat/turns/stream/stream-reply.ts';
import { AI_SDK_VERSION_HEADER, framesFor } from './approval-frames.ts';
import {
  comeBack,
  DISCONNECT_HEADERS,
  stopsOnDisconnect,
  unwatched,
  watchReader,
} from '#functions/chat/turns/stream/leaving.ts';
import { findChat } from '../chat-names.ts';
import { sendUiMessage } from './send-ui-message.ts';

const READER_HEADERS = {
  ...DISCONNECT_HEADERS,
  'X-AI-SDK-Version':
    'The major version of the client’s `ai`; from 6 on approvals come as `tool-approval-request` and `tool-output-denied`, which crash 5.',
};

export const aiSdkChatRoute = userRoute({
  operation: 'aiSdkChat',
  method: 'POST',
  path: '/v1/ai-sdk/chat',
  summary:
    'For `useChat` of the AI SDK 5, 6 and 7: takes the body of its default transport and streams the answer. The last message of the user is answered, where the messages before it say; or an answer at the end, with outputs for its open tool calls, goes on.',
  params: noQuery,
  query: noQuery,
  body: aiSdkChatBody,
  response: streamResponse,
  follows: { createConversation: { requestBody: { id: '$response.body#/id' } } },
  statuses: [200],
  example: {
    id: '0190a5d4-6b0d-7c52-8f4e-1a2b3c4d5e6f',
    messages: [
      {
        id: '0190a5d4-7c1e-7b3a-9f00-3d2c1b0a9e8f',
        role: 'user',
        parts: [{ type: 'text', text: 'What did we decide about the boat?' }],
      },
    ],
    trigger: 'submit-message',
  },
  format: 'ai-sdk',
  requestHeaders: READER_HEADERS,
  responseHeaders: TURN_HEADER,
  errors: [
    'BAD_PART',
    'TEXT_TOO_LONG',
    ...UPLOAD_ERRORS,
    'FIELD_NOT_WRITABLE',
    'TOOL_NAME_TAKEN',
    'OVERHEAD_TOO_LARGE',
    'CONVERSATION_NOT_FOUND',
    'MESSAGE_NOT_FOUND',
    'NOT_THE_LAST_ANSWER',
    'MESSAGE_REPLACED',
    'EDIT_TOO_FAR_BACK',
    'CONVERSATION_BUSY',
    'TOOL_RESULT_CONFLICT',
  ],
  handle: async (dependencies, { caller, body, header, left }) => {
    const watches = stopsOnDisconnect(header);
    const handle = await sendUiMessage(dependencies, { caller, body, header });
    const { conversationId } = handle;
    const seq = seqOfId(handle.turnId, 't') ?? 0;
    const watch = watches ? watchReader(dependencies, { conversationId, seq, left }) : unwatched;
    return turnReply(dependencies, handle, {
      accept: 'text/event-stream',
      left,
      shownAs: (frames, { takeOn }) => {
        takeOn(watch.settled);
        return framesFor(header(AI_SDK_VERSION_HEADER), watch.read(frames));
      },
    });
  },
});

export const aiSdkStreamRoute = userRoute({
  operation: 'aiSdkStream',
  method: 'GET',
  path: '/v1/ai-sdk/chat/{chatId}/stream',
  summary:
    'For `resumeStream` of the AI SDK: the answer that is being given, from its beginning; 204 when there is none.',
  params: aiSdkChatParams,
  query: noQuery,
  body: noBody,
  response: streamResponse,
  statuses: [200, 204],
  format: 'ai-sdk',
  requestHeaders: READER_HEADERS,
  responseHeaders: TURN_HEADER,
  errors: ['USER_STREAMS'],
  handle: async (dependencies, { caller, params, header, left }) => {
    const watches = stopsOnDisconnect(header);
    const conversationId = await findChat(dependencies, { caller, chatId: params.chatId });
    if (conversationId === undefined) return { kind: 'empty', status: 204 };
    const own = await readOwnConversation(dependencies, { caller, conversationId }).catch(
      (error: unknown) => {
        // A chat that nobody has written in yet is resumed as well, as soon as its page is open.
        if (error instanceof AppError && error.status === 'NOT_FOUND') return undefined;
        throw error;
      },
    );
    if (!own) return { kind: 'empty', status: 204 };
    const stream = await streamConversation(dependencies, own, {
      caller,
      cursor: undefined,
      locale: preferredLocale(header('accept-language')),
      sendMessage: dependencies.sendMessage,
    });
    if (!stream) return readerReply(dependencies, own, undefined);
    const { turn } = stream;
    await comeBack(dependencies, { conversationId, turn });
    const target = { conversationId, seq: turn.seq, left };
    const watch = watches ? watchReader(dependencies, target) : unwatched;
    const frames = (reader: Partial<StreamReader> = {}) => {
      reader.takeOn?.(watch.settled);
      return framesFor(header(AI_SDK_VERSION_HEADER), watch.read(stream.frames(reader)));
    };
    return readerReply(dependencies, own, { turn, frames });
  },
});
