import { turnId } from '../../../../shared/conversation/paths.ts';
import { readTurns } from '../../../../shared/conversation/read-conversation.ts';
import { isTerminal, type Turn } from '../../../../shared/conversation/turn.ts';
import { conversationParams, streamQuery, turnParams } from '../../../../shared/wire/requests.ts';
import { streamResponse } from '../../../../shared/wire/responses.ts';
import { preferredLocale } from '../http/locale.ts';
import { readOwnConversation, type OwnConversation } from '../conversation/own-conversation.ts';
import { readOwnTurn } from '../stream/read-turn.ts';
import { noBody, userRoute, type Reply, type RouteDependencies } from '../route.ts';
import { readCursor } from '../stream/stream-cursor.ts';
import { streamReply } from '../stream/stream-reply.ts';
import { streamTurn } from '../stream/stream-turn.ts';

/** 204 tells an EventSource to stop asking. */
const nothing: Reply = { kind: 'empty', status: 204 };

interface Asked {
  query: { startingAfter?: number | undefined };
  header: (name: string) => string | undefined;
}

async function reply(
  dependencies: RouteDependencies,
  asked: Asked,
  of: { own: OwnConversation; turn: Turn },
): Promise<Reply> {
  const { own, turn } = of;
  const cursor = readCursor(asked);
  const locale = preferredLocale(asked.header('accept-language'));
  const frames = await streamTurn(dependencies, own, { turn, cursor, locale });
  if (!frames) return nothing;
  return streamReply(dependencies, {
    turnId: turnId(turn.seq),
    generation: own.head.value.generation,
    frames,
    work: Promise.resolve(),
  });
}

export const streamConversationRoute = userRoute({
  operation: 'streamConversation',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/stream',
  summary:
    'The stream of the turn that is being answered, from `startingAfter` or `Last-Event-ID` on; 204 when there is none.',
  params: conversationParams,
  query: streamQuery,
  body: noBody,
  response: streamResponse,
  statuses: [200, 204],
  handle: async (dependencies, { caller, params, ...asked }) => {
    const { conversationId } = params;
    const own = await readOwnConversation(dependencies, { caller, conversationId });
    const { open } = own.head.value;
    readCursor(asked);
    const [turn] = open ? await readTurns(dependencies.store, conversationId, [open.seq]) : [];
    if (!turn || isTerminal(turn.value.state)) return nothing;
    return reply(dependencies, asked, { own, turn: turn.value });
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
  handle: async (dependencies, { caller, params, ...asked }) => {
    const { own, turn } = await readOwnTurn(dependencies, { caller, ...params });
    return reply(dependencies, asked, { own, turn: turn.value });
  },
});
