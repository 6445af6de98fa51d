import { seqOfId } from '../../../../shared/conversation/paths.ts';
import { readTurns } from '../../../../shared/conversation/read-conversation.ts';
import { AppError } from '../../../../shared/errors.ts';
import { noQuery, turnParams } from '../../../../shared/wire/requests.ts';
import { turnResponse } from '../../../../shared/wire/responses.ts';
import { turnView } from '../../../../shared/wire/views.ts';
import { readOwnConversation } from '../own-conversation.ts';
import { noBody, userRoute } from '../route.ts';

const turnNotFound = (conversationId: string, turnId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'TURN_NOT_FOUND',
    message: `no turn ${turnId} in ${conversationId}`,
    publicMessage: 'The conversation has no such turn.',
    metadata: { turnId },
  });

export const getTurnRoute = userRoute({
  operation: 'getTurn',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/turns/{turnId}',
  summary: 'How a turn stands: running, done, failed, and why.',
  params: turnParams,
  query: noQuery,
  body: noBody,
  response: turnResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params }) => {
    const { conversationId, turnId } = params;
    const { head } = await readOwnConversation(dependencies, { caller, conversationId });
    const seq = seqOfId(turnId, 't') ?? 0;
    const isThere = seq >= 1 && seq <= head.value.lastSeq;
    const [turn] = isThere ? await readTurns(dependencies.store, conversationId, [seq]) : [];
    if (!turn) throw turnNotFound(conversationId, turnId);
    return { kind: 'json', body: turnView(turn.value) };
  },
});
