import {
  type RouteDependencies,
  type Reply,
  UPLOAD_ERRORS,
  userRoute,
} from '#functions/chat/route.ts';
import { type StreamReader, streamConversation } from '#functions/chat/turns/stream/stream-turn.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { EVENT_HEADERS, wantsStream } from '#functions/chat/http/headers.ts';
import { answerOptions, messageOfBody, turnBody } from '#functions/chat/routes/answering.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { readFinished } from '#functions/chat/turns/stream/read-turn.ts';
import { stillQueuedError, orFailure } from '#functions/chat/turns/turn-errors.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { toToolResult } from '#functions/chat/turns/tools/tool-response.ts';
import { turnIdOfCall } from '#shared/conversation/context/tool-calls.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import {
  callableBody,
  type CallableData,
  callableResponse,
} from '#shared/wire/facades/callable.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { callableText, type CallableCall } from './callable-events.ts';

interface Asked {
  caller: Caller;
  data: CallableData;
  options: ReturnType<typeof answerOptions>;
  left: AbortSignal;
}

interface StartedCall {
  /** What happens and what comes of it, for any reader. */
  read: (reader: Partial<StreamReader>) => CallableCall;
  /** What must end before the request counts as served. */
  work: Promise<unknown>;
}

/** Sends a message, or answers calls of one turn, which their ids name. */
async function send(
  dependencies: RouteDependencies,
  { caller, data, options }: Asked,
): Promise<SendHandle | undefined> {
  const { conversationId, message, toolResults } = data;
  if (message)
    return dependencies.sendMessage(dependencies, {
      caller,
      conversationId,
      message: messageOfBody(dependencies, message),
      ...options,
    });
  if (!toolResults) return undefined;
  return answerCalls(dependencies, {
    caller,
    conversationId,
    turnId: turnIdOfCall(toolResults[0]?.callId ?? ''),
    results: toolResults.map((result, index) =>
      toToolResult(result, `data.toolResults[${index}].output`),
    ),
    locale: options.locale,
  });
}

/** The answer that is being given in a conversation, from its beginning; nothing where there is none. Throws NOT_FOUND. */
async function resume(
  dependencies: RouteDependencies,
  { caller, data: { conversationId }, options: { locale } }: Asked,
): Promise<StartedCall> {
  const own = await readOwnConversation(dependencies, { caller, conversationId });
  const reading = { caller, cursor: undefined, locale };
  const stream = await streamConversation(dependencies, own, reading);
  return {
    read: (reader) => ({
      frames: stream?.frames(reader) ?? noFrames(),
      result: async () => {
        if (!stream) return { turn: null };
        const { seq } = stream.turn;
        const finished = await readFinished(dependencies, { conversationId, seq, locale });
        if (!finished) throw stillQueuedError(`turn ${seq} of ${conversationId}`);
        return turnBody(orFailure(finished));
      },
    }),
    work: Promise.resolve(),
  };
}

async function* noFrames(): AsyncGenerator<StreamFrame> {
  // Nothing is being answered.
}

async function startCall(dependencies: RouteDependencies, asked: Asked): Promise<StartedCall> {
  const handle = asked.data.action === 'resume' ? undefined : await send(dependencies, asked);
  if (!handle) return resume(dependencies, asked);
  handle.subscribe(asked.left);
  return {
    read: ({ left }) => ({
      frames: handle.frames(left),
      result: async () => turnBody(await handle.result),
    }),
    work: handle.result,
  };
}

/** The result alone, for one who did not ask for a stream. */
async function jsonReply({ read }: StartedCall): Promise<Reply> {
  const { frames, result } = read({});
  const iterator = frames[Symbol.asyncIterator]();
  while (!(await iterator.next()).done);
  return { kind: 'json', body: { result: await result() } };
}

export const callableChatRoute = userRoute({
  operation: 'callableChat',
  summary:
    'For the Firebase SDKs (`httpsCallable`): sends a message, answers tool calls, or follows the answer that is being given; called or streamed.',
  body: callableBody,
  response: callableResponse,
  media: ['application/json', 'text/event-stream'],
  requestHeaders: {
    Accept: '`text/event-stream` streams the answer; errors are events then, too.',
  },
  errors: [
    'BAD_PART',
    'TEXT_TOO_LONG',
    ...UPLOAD_ERRORS,
    'CONVERSATION_NOT_FOUND',
    'TOOL_CALL_NOT_FOUND',
    'TOOL_RESULT_CONFLICT',
  ],
  example: {
    data: {
      conversationId: '0190a5d4-6b0d-7c52-8f4e-1a2b3c4d5e6f',
      message: {
        id: '0190a5d4-7c1e-7b3a-9f00-3d2c1b0a9e8f',
        parts: [{ type: 'text', text: 'What did we decide about the boat?' }],
      },
    },
  },
  format: 'callable',
  handle: async (dependencies, { caller, body, header, left }) => {
    const conversationId = toLowerUuid(body.data.conversationId);
    const data = { ...body.data, conversationId };
    const options = answerOptions(data, header);
    const call = await startCall(dependencies, { caller, data, options, left });
    if (!wantsStream(header('accept'))) return jsonReply(call);
    const { clock, heartbeatMs, docsUrl } = dependencies;
    return {
      kind: 'stream',
      headers: EVENT_HEADERS,
      text: (reader) =>
        callableText(call.read(reader), { clock, heartbeatMs, docsUrl, left: reader.left }),
      work: call.work,
    };
  },
});
