import { conversationParams } from '#shared/wire/fields.ts';
import { searchQuery } from '#shared/wire/queries.ts';
import { searchResponse } from '#shared/wire/resources/search.ts';
import { noBody, userRoute } from '../route.ts';
import { searchMessages } from '../features/search/search-messages.ts';

export const searchRoute = userRoute({
  operation: 'searchConversation',
  method: 'GET',
  path: '/v1/conversations/{conversationId}:search',
  summary:
    'Messages of the full transcript that have the words of `q`, the best first; 2,000 turns a request, the newest first.',
  params: conversationParams,
  query: searchQuery,
  body: noBody,
  response: searchResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params, query }) => ({
    kind: 'json',
    body: await searchMessages(dependencies, { caller, ...params, ...query }),
  }),
});
