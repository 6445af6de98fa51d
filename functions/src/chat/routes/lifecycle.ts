import { z } from 'zod';
import { compactionRecordResponse, restoreBody } from '#shared/wire/resources/compaction.ts';
import {
  conversationResponse,
  conversationView,
  deleteConversationQuery,
  deleteConversationResponse,
  erasingResponse,
  forkBody,
} from '#shared/wire/resources/conversations.ts';
import { conversationParams, messageParams } from '#shared/wire/fields.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { messageResponse } from '#shared/wire/resources/messages.ts';
import {
  deleteConversation,
  eraseOwnConversation,
} from '../conversations/erase/delete-conversation.ts';
import { deleteMessage } from '../conversations/erase/delete-message.ts';
import { eraseUser } from '../conversations/erase/erase-user.ts';
import { forkConversation } from '../conversations/fork/fork-conversation.ts';
import { preferredLocale } from '../http/headers.ts';
import { restoreGeneration } from '../context/restore-generation.ts';
import { emptyBody, userRoute } from '../route.ts';
import { undeleteConversation } from '../conversations/erase/undelete-conversation.ts';
import { IF_MATCH_HEADER, LANGUAGE_HEADER } from './parts/described-headers.ts';

export const restoreRoute = userRoute({
  operation: 'restoreGeneration',
  method: 'POST',
  path: '/v1/conversations/{conversationId}:restore',
  summary:
    'Goes back to an earlier generation of the context, or to none; later turns stay word for word.',
  params: conversationParams,
  query: noQuery,
  body: restoreBody,
  response: compactionRecordResponse,
  follows: {
    listCompactions: {
      parameters: { conversationId: '$request.path.conversationId' },
      requestBody: { generation: '$response.body#/compactions/0/generation' },
    },
  },
  statuses: [200],
  requestHeaders: { ...LANGUAGE_HEADER, ...IF_MATCH_HEADER },
  errors: [
    'ETAG_MISMATCH',
    'GENERATION_MISMATCH',
    'GENERATION_NOT_FOUND',
    'GENERATION_ERASED',
    'GENERATION_OUTDATED',
    'SNAPSHOT_UNREADABLE',
    'IDEMPOTENCY_KEY_REUSED',
    'CONVERSATION_BUSY',
  ],
  example: { generation: 2 },
  handle: async (dependencies, { caller, params, body, header }) => ({
    kind: 'json',
    body: await restoreGeneration(dependencies, {
      caller,
      ...params,
      ...body,
      ifMatch: header('if-match'),
      locale: preferredLocale(header('accept-language')),
    }),
  }),
});

export const deleteMessageRoute = userRoute({
  operation: 'deleteMessage',
  method: 'DELETE',
  path: '/v1/conversations/{conversationId}/messages/{messageId}',
  summary:
    'Erases a user message with its answer, or an answer alone, and all that was made of it. Its place in the transcript stays, empty.',
  params: messageParams,
  query: noQuery,
  body: emptyBody,
  response: messageResponse,
  statuses: [200],
  errors: ['TURN_IN_PROGRESS', 'CONVERSATION_BUSY'],
  handle: async (dependencies, { caller, params }) => ({
    kind: 'json',
    body: await deleteMessage(dependencies, { caller, ...params }),
  }),
});

export const deleteConversationRoute = userRoute({
  operation: 'deleteConversation',
  isSensitive: true,
  method: 'DELETE',
  path: '/v1/conversations/{conversationId}',
  summary:
    'Puts a conversation into the bin, from where it can be taken back for a time; `permanent` erases it, in the bin or not, without a way back.',
  params: conversationParams,
  query: deleteConversationQuery,
  body: emptyBody,
  response: deleteConversationResponse,
  statuses: [200, 202],
  requestHeaders: IF_MATCH_HEADER,
  errors: ['APP_CHECK_REPLAYED', 'CONVERSATION_BUSY', 'ETAG_MISMATCH', 'GENERATION_MISMATCH'],
  handle: async (dependencies, { caller, params, query, header }) => {
    const { conversationId } = params;
    const ifMatch = header('if-match');
    if (query.permanent) {
      await eraseOwnConversation(dependencies, { caller, conversationId, ifMatch });
      return { kind: 'json', status: 202, body: { conversations: 1 } };
    }
    const conversation = await deleteConversation(dependencies, {
      caller,
      conversationId,
      ifMatch,
    });
    return { kind: 'json', body: conversationView(conversationId, conversation) };
  },
});

export const undeleteConversationRoute = userRoute({
  operation: 'undeleteConversation',
  method: 'POST',
  path: '/v1/conversations/{conversationId}:undelete',
  summary: 'Takes a conversation out of the bin.',
  params: conversationParams,
  query: noQuery,
  body: emptyBody,
  response: conversationResponse,
  statuses: [200],
  errors: ['CONVERSATION_BUSY'],
  handle: async (dependencies, { caller, params }) => {
    const { conversationId } = params;
    const conversation = await undeleteConversation(dependencies, { caller, conversationId });
    return { kind: 'json', body: conversationView(conversationId, conversation) };
  },
});

export const forkConversationRoute = userRoute({
  operation: 'forkConversation',
  method: 'POST',
  path: '/v1/conversations/{conversationId}:fork',
  summary: 'Copies a conversation up to a message into a new one.',
  params: conversationParams,
  query: noQuery,
  body: forkBody,
  response: conversationResponse,
  statuses: [201, 200],
  responseHeaders: { Location: 'The address of the copy.' },
  errors: [
    'MESSAGE_NOT_FOUND',
    'IDEMPOTENCY_KEY_REUSED',
    'TURN_IN_PROGRESS',
    'FORK_TOO_LARGE',
    'USER_DAILY_CREATIONS',
    'ANONYMOUS_LIMIT',
    'FORK_TAKEN_OVER',
    'CONVERSATION_BUSY',
  ],
  example: { messageId: 'm_12' },
  handle: async (dependencies, { caller, params, body }) => {
    const fork = await forkConversation(dependencies, { caller, ...params, ...body });
    return {
      kind: 'json',
      status: fork.isNew ? 201 : 200,
      headers: { location: `/v1/conversations/${fork.conversationId}` },
      body: conversationView(fork.conversationId, fork.conversation),
    };
  },
});

export const eraseUserRoute = userRoute({
  operation: 'eraseUser',
  isSensitive: true,
  method: 'POST',
  path: '/v1/users/me:erase',
  summary: 'Erases everything of the caller, without a way back.',
  params: z.strictObject({}),
  query: noQuery,
  body: emptyBody,
  response: erasingResponse,
  follows: { exportUser: {} },
  statuses: [202],
  errors: ['APP_CHECK_REPLAYED', 'CONVERSATION_BUSY'],
  handle: async (dependencies, { caller }) => ({
    kind: 'json',
    status: 202,
    body: await eraseUser(dependencies, { caller }),
  }),
});
