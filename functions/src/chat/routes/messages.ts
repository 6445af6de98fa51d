import {
  conversationParams,
  listMessagesQuery,
  noQuery,
  sendMessageBody,
} from '../../../../shared/wire/requests.ts';
import { messageListResponse, sendMessageResponse } from '../../../../shared/wire/responses.ts';
import { refuseTooLong, toPart } from '../../../../shared/wire/message-parts.ts';
import { answerView, turnView, usageView, userMessageView } from '../../../../shared/wire/views.ts';
import { listMessages } from '../list-messages.ts';
import { preferredLocale } from '../locale.ts';
import { noBody, userRoute, type Reply, type RouteDependencies } from '../route.ts';
import type { SendHandle } from '../send-request.ts';
import { sseText, STREAM_HEADERS } from '../sse.ts';

function streamReply(dependencies: RouteDependencies, handle: SendHandle): Reply {
  const { clock, heartbeatMs } = dependencies;
  return {
    kind: 'stream',
    headers: { ...STREAM_HEADERS, 'x-turn-id': handle.turnId },
    text: sseText(handle.frames(), { clock, heartbeatMs, generation: handle.generation }),
    work: handle.result,
  };
}

async function jsonReply(handle: SendHandle): Promise<Reply> {
  const { turn, context, replayed } = await handle.result;
  return {
    kind: 'json',
    headers: { 'x-turn-id': handle.turnId },
    body: {
      turn: turnView(turn),
      userMessage: userMessageView(turn),
      message: answerView(turn),
      context,
      usage: turn.usage ? usageView(turn.usage) : null,
      replayed,
    },
  };
}

const wantsStream = (accept: string | undefined) =>
  accept?.toLowerCase().includes('text/event-stream') ?? false;

export const sendMessageRoute = userRoute({
  operation: 'sendMessage',
  method: 'POST',
  path: '/v1/conversations/{conversationId}/messages',
  summary:
    'Sends a message. `Accept: text/event-stream` streams the answer; else it comes as one JSON. The same message id again attaches to the same answer.',
  params: conversationParams,
  query: noQuery,
  body: sendMessageBody,
  response: sendMessageResponse,
  statuses: [200],
  // Sending creates the conversation, so a malformed id is worth telling.
  badParams: 'badArgument',
  handle: async (dependencies, { caller, params, body, header }) => {
    const { id, parts, retention } = body.message;
    const { MAX_PART_BYTES: maxPartBytes, MAX_MESSAGE_BYTES: maxMessageBytes } =
      dependencies.config;
    refuseTooLong(parts, { maxPartBytes, maxMessageBytes });
    const locale = body.locale ?? preferredLocale(header('accept-language'));
    const handle = await dependencies.sendMessage(dependencies, {
      caller,
      conversationId: params.conversationId,
      message: { id, parts: parts.map(toPart), ...(retention && { retention }) },
      ...(locale !== undefined && { locale }),
    });
    return wantsStream(header('accept')) ? streamReply(dependencies, handle) : jsonReply(handle);
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
