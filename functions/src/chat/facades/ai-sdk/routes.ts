import { type StreamReader, streamConversation } from '#functions/chat/turns/stream/stream-turn.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { noContent, userRoute, UPLOAD_ERRORS, TURN_HEADER } from '#functions/chat/route.ts';
import { turnReply } from '#functions/chat/routes/answering.ts';
import {
  comeBack,
  DISCONNECT_HEADERS,
  stopsOnDisconnect,
  unwatched,
  watchReader,
} from '#functions/chat/facades/translation/leaving.ts';
import { readerReply } from '#functions/chat/routes/parts/stream-reply.ts';
import { DENIED } from '#shared/conversation/context/tool-results.ts';
import { seqOfId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { aiSdkChatBody, aiSdkChatParams, type ApprovalChunk } from '#shared/wire/facades/ai-sdk.ts';
import { streamResponse, type StreamFrame } from '#shared/wire/resources/streams.ts';
import { findChat } from '../chat-names.ts';
import { sendUiMessage } from './send-ui-message.ts';

/** The header with which a client says which `ai` it has. */
const VERSION_HEADER = 'x-ai-sdk-version';

/** The first version whose messages know approvals; the chunks crash the one before. */
const FIRST_WITH_APPROVALS = 6;

type UiFrame = StreamFrame | { id: number; chunk: ApprovalChunk };

/** A frame in the words of the AI SDK 6 and 7, which have their own for the user's yes and no. */
function withApproval(frame: StreamFrame): UiFrame {
  const { id, chunk } = frame;
  if (chunk.type === 'data-notice' && chunk.data.kind === 'approval') {
    const { callId } = chunk.data;
    return { id, chunk: { type: 'tool-approval-request', approvalId: callId, toolCallId: callId } };
  }
  if (chunk.type === 'tool-output-error' && chunk.errorText === DENIED.error)
    return { id, chunk: { type: 'tool-output-denied', toolCallId: chunk.toolCallId } };
  return frame;
}

/** Frames as a client of this version understands them; one that says none gets what every version does. */
async function* framesFor(
  version: string | undefined,
  frames: AsyncIterable<StreamFrame>,
): AsyncGenerator<UiFrame> {
  const knowsApprovals = Number.parseInt(version ?? '', 10) >= FIRST_WITH_APPROVALS;
  for await (const frame of frames) yield knowsApprovals ? withApproval(frame) : frame;
}

const READER_HEADERS = {
  ...DISCONNECT_HEADERS,
  'X-AI-SDK-Version':
    'The major version of the client’s `ai`; from 6 on approvals come as `tool-approval-request` and `tool-output-denied`, which crash 5.',
};

export const aiSdkChatRoute = userRoute({
  operation: 'aiSdkChat',
  summary:
    'For `useChat` of the AI SDK 5, 6 and 7: takes the body of its default transport and streams the answer. The last message of the user is answered, where the messages before it say; or an answer at the end, with outputs for its open tool calls, goes on.',
  body: aiSdkChatBody,
  response: streamResponse,
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
        return framesFor(header(VERSION_HEADER), watch.read(frames));
      },
    });
  },
});

export const aiSdkStreamRoute = userRoute({
  operation: 'aiSdkStream',
  summary:
    'For `resumeStream` of the AI SDK: the answer that is being given, from its beginning; 204 when there is none.',
  params: aiSdkChatParams,
  response: streamResponse,
  statuses: [200, 204],
  format: 'ai-sdk',
  requestHeaders: READER_HEADERS,
  responseHeaders: TURN_HEADER,
  errors: ['USER_STREAMS'],
  handle: async (dependencies, { caller, params, header, left, locale }) => {
    const watches = stopsOnDisconnect(header);
    const conversationId = await findChat(dependencies, { caller, chatId: params.chatId });
    if (conversationId === undefined) return noContent;
    const own = await readOwnConversation(dependencies, { caller, conversationId }).catch(
      (error: unknown) => {
        // A chat that nobody has written in yet is resumed as well, as soon as its page is open.
        if (error instanceof AppError && error.status === 'NOT_FOUND') return undefined;
        throw error;
      },
    );
    if (!own) return noContent;
    const stream = await streamConversation(dependencies, own, {
      caller,
      cursor: undefined,
      locale,
    });
    if (!stream) return readerReply(dependencies, own, undefined);
    const { turn } = stream;
    await comeBack(dependencies, { conversationId, turn });
    const target = { conversationId, seq: turn.seq, left };
    const watch = watches ? watchReader(dependencies, target) : unwatched;
    const frames = (reader: Partial<StreamReader> = {}) => {
      reader.takeOn?.(watch.settled);
      return framesFor(header(VERSION_HEADER), watch.read(stream.frames(reader)));
    };
    return readerReply(dependencies, own, { turn, frames });
  },
});
