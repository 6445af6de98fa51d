import {
  cancelCompaction,
  previewCompaction,
  requestCompaction,
} from '../context/manual-compaction.ts';
import { showContext } from '../context/show-context.ts';
import { json, userRoute, LANGUAGE_HEADER, IF_MATCH_HEADER } from '../route.ts';
import {
  compactionParams,
  conversationParams,
  generationParams,
  contextQuery,
  listQuery,
} from '#shared/wire/fields.ts';
import {
  cancelledCompactionResponse,
  compactBody,
  compactionDetailResponse,
  compactionListResponse,
  compactResponse,
} from '#shared/wire/resources/compaction.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { listCompactions, readCompaction } from '../context/list-compactions.ts';

export const compactRoute = userRoute({
  operation: 'compactConversation',
  summary:
    'Asks for a compaction now; the context object tells how it goes on. With dryRun only tells what it would fold.',
  params: conversationParams,
  body: compactBody,
  response: compactResponse,
  statuses: [202, 200],
  requestHeaders: IF_MATCH_HEADER,
  errors: [
    'COMPACTION_RUNNING',
    'COMPACTION_LIMIT',
    'ETAG_MISMATCH',
    'GENERATION_MISMATCH',
    'USER_DAILY_USD',
    'ANONYMOUS_LIMIT',
    'GLOBAL_BUDGET',
  ],
  example: { focus: 'Keep every number.' },
  handle: async (dependencies, { caller, params, body, header }) => {
    if (body?.dryRun === true)
      return json(await previewCompaction(dependencies, { caller, ...params }));
    const { focus, requestId } = body ?? {};
    const job = await requestCompaction(dependencies, {
      caller,
      ...params,
      focus,
      requestId,
      ifMatch: header('if-match'),
    });
    return { kind: 'json', status: 202, body: job };
  },
});

export const cancelCompactionRoute = userRoute({
  operation: 'cancelCompaction',
  summary:
    'Calls a compaction off: one that waits at once, one that runs within about two seconds. Nothing of the conversation changes. One that has ended is told as it ended.',
  params: compactionParams,
  response: cancelledCompactionResponse,
  handle: async (dependencies, { caller, params }) =>
    json(await cancelCompaction(dependencies, { caller, ...params })),
});

export const listCompactionsRoute = userRoute({
  operation: 'listCompactions',
  summary: 'What compactions did, newest first, attempts that changed nothing included.',
  params: conversationParams,
  query: listQuery,
  response: compactionListResponse,
  requestHeaders: LANGUAGE_HEADER,
  handle: async (dependencies, { caller, params, query, locale }) =>
    json(await listCompactions(dependencies, { caller, ...params, ...query, locale })),
});

export const getCompactionRoute = userRoute({
  operation: 'getCompaction',
  summary:
    'The compaction that made a generation, and what its snapshot says, each statement with the turns it comes from.',
  params: generationParams,
  response: compactionDetailResponse,
  requestHeaders: LANGUAGE_HEADER,
  errors: ['GENERATION_ERASED', 'SNAPSHOT_UNREADABLE'],
  handle: async (dependencies, { caller, params, locale }) =>
    json(await readCompaction(dependencies, { caller, ...params, locale })),
});

export const getContextRoute = userRoute({
  operation: 'getContext',
  summary:
    'Exactly what the model would see now; with `generation` an earlier snapshot, with the turns up to its end as they are today.',
  params: conversationParams,
  query: contextQuery,
  response: contextResponse,
  errors: [
    'GENERATION_NOT_FOUND',
    'GENERATION_ERASED',
    'GENERATION_OUTDATED',
    'SNAPSHOT_UNREADABLE',
  ],
  handle: async (dependencies, { caller, params, query }) =>
    json(await showContext(dependencies, { caller, ...params, ...query })),
});
