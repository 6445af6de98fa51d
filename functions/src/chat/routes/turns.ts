import { turnParams } from '#shared/wire/fields.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { turnResponse, turnView } from '#shared/wire/resources/turns.ts';
import { cancelTurn } from '../turns/finish/cancel-turn.ts';
import { readOwnTurn } from '../turns/stream/read-turn.ts';
import { emptyBody, noBody, userRoute } from '../route.ts';

export const getTurnRoute = userRoute({
  operation: 'getTurn',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/turns/{turnId}',
  summary: 'How a turn stands: queued, running, done, failed or cancelled, and why.',
  params: turnParams,
  query: noQuery,
  body: noBody,
  response: turnResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params }) => {
    const { turn } = await readOwnTurn(dependencies, { caller, ...params });
    return { kind: 'json', body: turnView(turn.value) };
  },
});

export const cancelTurnRoute = userRoute({
  operation: 'cancelTurn',
  method: 'POST',
  path: '/v1/conversations/{conversationId}/turns/{turnId}:cancel',
  summary:
    'Stops the answer of a turn; what was said so far stays. A turn that another server answers may still run for a second.',
  params: turnParams,
  query: noQuery,
  body: emptyBody,
  response: turnResponse,
  statuses: [200],
  errors: ['TURN_FINISHED', 'CONVERSATION_BUSY'],
  handle: async (dependencies, { caller, params }) => ({
    kind: 'json',
    body: turnView(await cancelTurn(dependencies, { caller, ...params })),
  }),
});
