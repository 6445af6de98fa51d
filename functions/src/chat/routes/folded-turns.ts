import { conversationParams } from '#shared/wire/fields.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { readFoldedTurns } from '../conversations/read-folded-turns.ts';
import { noBody, publicRoute } from '../route.ts';

const TOKEN_HEADER = 'X-Recap-Read-Token';

export const foldedTurnsRoute = publicRoute({
  operation: 'readFoldedTurns',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/foldedTurns',
  summary:
    'The turns that a compaction folds as JSON lines, for the preCompact webhook that was given a token for them; no user is signed in.',
  params: conversationParams,
  query: noQuery,
  body: noBody,
  response: exportLineResponse,
  statuses: [200],
  media: ['application/jsonl'],
  requestHeaders: { [TOKEN_HEADER]: '`foldedTurns.token` of the call of the webhook.' },
  errors: ['READ_TOKEN_INVALID'],
  handle: async (dependencies, { params, header }) => ({
    kind: 'text',
    headers: { 'content-type': 'application/jsonl; charset=utf-8' },
    text: await readFoldedTurns(dependencies, { ...params, token: header(TOKEN_HEADER) }),
    brokenEvent: 'folded_turns_broken',
  }),
});
