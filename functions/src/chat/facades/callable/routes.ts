import type { z } from 'zod';
import type { Caller } from '#shared/ports/ports.ts';
import {
  callableBody,
  type CallableData,
  callableResponse,
} from '#shared/wire/facades/callable.ts';
import { noQuery } from '#shared/wire/queries.ts';
import type { sendMessageBody } from '#shared/wire/resources/messages.ts';
import { EVENT_HEADERS, wantsStream } from '#functions/chat/http/headers.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import {
  userRoute,
  type Reply,
  type RouteDependencies,
  type StreamReader,
} from '#functions/chat/route.ts';
import { answerOptions, messageOfBody } from '#functions/chat/routes/parts/message-body.ts';
import { UPLOAD_ERRORS } from '#functions/chat/routes/parts/described-headers.ts';
import { turnBody } from '#functions/chat/routes/parts/turn-reply.ts';
import { callableText, type CallableCall } from './callable-events.ts';
import { turnIdOfCall } from '#shared/conversation/context/tool-calls.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { toToolResult } from '#functions/chat/turns/tools/given-result.ts';
import { resumeCall } from './resume-call.ts';

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

const send = (
  dependencies: RouteDependencies,
  { caller, data, options }: Asked,
  message: z.infer<typeof sendMessageBody>['message'],
): Promise<SendHandle> =>
  dependencies.sendMessage(dependencies, {
    caller,
    conversationId: data.conversationId,
    message: messageOfBody(dependencies, message),
    ...options,
  });

/** Answers calls of one turn, which their ids name. */
const giveResults = (
  dependencies: RouteDependencies,
  { caller, data, options }: Asked,
  results: NonNullable<CallableData['toolResults']>,
): Promise<SendHandle> =>
  answerCalls(dependencies, {
    caller,
    conversationId: data.conversationId,
    turnId: turnIdOfCall(results[0]?.callId ?? ''),
    results: results.map((result, index) =>
      toToolResult(result, `data.toolResults[${index}].output`),
    ),
    locale: options.locale,
  });

function callOf(handle: SendHandle, { left: closed }: Asked): StartedCall {
  handle.subscribe(closed);
  return {
    read: ({ left }) => ({
      frames: handle.frames(left),
      result: async () => turnBody(await handle.result),
    }),
    work: handle.result,
  };
}

async function startCall(dependencies: RouteDependencies, asked: Asked): Promise<StartedCall> {
  const { caller, options, data } = asked;
  const { conversationId, message, toolResults, action } = data;
  if (message && action !== 'resume')
    return callOf(await send(dependencies, asked, message), asked);
  if (toolResults && action !== 'resume')
    return callOf(await giveResults(dependencies, asked, toolResults), asked);
  const read = await resumeCall(dependencies, { caller, conversationId, locale: options.locale });
  return { read, work: Promise.resolve() };
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
  method: 'POST',
  path: '/callable/chat',
  summary:
    'For the Firebase SDKs (`httpsCallable`): sends a message, answers tool calls, or follows the answer that is being given; called or streamed.',
  params: noQuery,
  query: noQuery,
  body: callableBody,
  response: callableResponse,
  follows: {
    createConversation: { requestBody: { data: { conversationId: '$response.body#/id' } } },
  },
  statuses: [200],
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
