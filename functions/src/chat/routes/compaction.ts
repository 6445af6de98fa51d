import {
  cancelledCompactionResponse,
  compactBody,
  compactionDetailResponse,
  compactionListResponse,
  compactResponse,
} from '#shared/wire/resources/compaction.ts';
import { compactionParams, conversationParams, generationParams } from '#shared/wire/fields.ts';
import { contextQuery, listQuery, noQuery } from '#shared/wire/queries.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { cancelCompaction } from '../context/cancel-compaction.ts';
import { listCompactions, readCompaction } from '../context/list-compactions.ts';
import { preferredLocale } from '../http/headers.ts';
import { previewCompaction } from '../context/preview-compaction.ts';
import { requestCompaction } from '../context/request-compaction.ts';
import { emptyBody, noBody, userRoute } from '../route.ts';
import { showContext } from '../context/show-context.ts';
import { IF_MATCH_HEADER, LANGUAGE_HEADER } from './parts/described-headers.ts';

export const compactRoute = userRoute({
  operation: 'compactConversation',
  method: 'POST',
  path: '/v1/conversations/{conversationId}:compact',
  aliases: [
    '/v1/conversations/{conversationId}:compress',
    '/v1/conversations/{conversationId}:summarize',
  ],
  summary:
    'Asks for a compaction now; the context object tells how it goes on. With dryRun only tells what it would fold.',
  params: conversationParams,
  query: noQuery,
  body: compactBody,
  response: compactResponse,
  statuses: [202, 200],
  requestHeaders: IF_MATCH_HEADER,
  errors: [
    'COMPACTION_RUNNING',
    'COMPACTION_LIMIT',
    'CONVERSATION_BUSY',
    'ETAG_MISMATCH',
    'GENERATION_MISMATCH',
    'USER_DAILY_USD',
    'ANONYMOUS_LIMIT',
    'GLOBAL_BUDGET',
  ],
  example: { focus: 'Keep every number.' },
  handle: async (dependencies, { caller, params, body, header }) => {
    if (body?.dryRun === true)
      return { kind: 'json', body: await previewCompaction(dependencies, { caller, ...params }) };
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
  method: 'POST',
  path: '/v1/conversations/{conversationId}/compactions/{jobId}:cancel',
  summary:
    'Calls a compaction off: one that waits at once, one that runs within about two seconds. Nothing of the conversation changes. One that has ended is told as it ended.',
  params: compactionParams,
  query: noQuery,
  body: emptyBody,
  response: cancelledCompactionResponse,
  statuses: [200],
  errors: ['CONVERSATION_BUSY'],
  handle: async (dependencies, { caller, params }) => ({
    kind: 'json',
    body: await cancelCompaction(dependencies, { caller, ...params }),
  }),
});

export const listCompactionsRoute = userRoute({
  operation: 'listCompactions',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/compactions',
  summary: 'What compactions did, newest first, attempts that changed nothing included.',
  params: conversationParams,
  query: listQuery,
  body: noBody,
  response: compactionListResponse,
  statuses: [200],
  requestHeaders: LANGUAGE_HEADER,
  handle: async (dependencies, { caller, params, query, header }) => ({
    kind: 'json',
    body: await listCompactions(dependencies, {
      caller,
      ...params,
      ...query,
      locale: preferredLocale(header('accept-language')),
    }),
  }),
});

export const getCompactionRoute = userRoute({
  operation: 'getCompaction',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/compactions/{generation}',
  summary:
    'The compaction that made a generation, and what its snapshot says, each statement with the turns it comes from.',
  params: generationParams,
  query: noQuery,
  body: noBody,
  response: compactionDetailResponse,
  statuses: [200],
  requestHeaders: LANGUAGE_HEADER,
  errors: ['GENERATION_ERASED', 'SNAPSHOT_UNREADABLE'],
  handle: async (dependencies, { caller, params, header }) => ({
    kind: 'json',
    body: await readCompaction(dependencies, {
      caller,
      ...params,
      locale: preferredLocale(header('accept-language')),
    }),
  }),
});

export const getContextRoute = userRoute({
  operation: 'getContext',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/context',
  summary:
    'Exactly what the model would see now; with `generation` an earlier snapshot, with the turns up to its end as they are today.',
  params: conversationParams,
  query: contextQuery,
  body: noBody,
  response: contextResponse,
  statuses: [200],
  errors: [
    'GENERATION_NOT_FOUND',
    'GENERATION_ERASED',
    'GENERATION_OUTDATED',
    'SNAPSHOT_UNREADABLE',
  ],
  handle: async (dependencies, { caller, params, query }) => ({
    kind: 'json',
    body: await showContext(dependencies, { caller, ...params, ...query }),
  }),
});
