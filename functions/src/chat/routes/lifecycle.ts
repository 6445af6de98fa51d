import {
  deleteConversation,
  eraseOwnConversation,
  undeleteConversation,
} from '../conversations/erase/delete-conversation.ts';
import { deleteMessage } from '../conversations/erase/delete-message.ts';
import { eraseUser } from '../conversations/erase/erase-user.ts';
import { forkConversation } from '../conversations/fork/fork-conversation.ts';
import { json, userRoute, LANGUAGE_HEADER, IF_MATCH_HEADER } from '../route.ts';
import { conversationParams, messageParams } from '#shared/wire/fields.ts';
import { compactionRecordResponse, restoreBody } from '#shared/wire/resources/compaction.ts';
import {
  conversationResponse,
  conversationView,
  deleteConversationQuery,
  deleteConversationResponse,
  erasingResponse,
  forkBody,
} from '#shared/wire/resources/conversations.ts';
import { messageResponse } from '#shared/wire/resources/messages.ts';
import { restoreGeneration } from '../context/restore-generation.ts';

export const restoreRoute = userRoute({
  operation: 'restoreGeneration',
  summary:
    'Goes back to an earlier generation of the context, or to none; later turns stay word for word.',
  params: conversationParams,
  body: restoreBody,
  response: compactionRecordResponse,
  requestHeaders: { ...LANGUAGE_HEADER, ...IF_MATCH_HEADER },
  errors: [
    'ETAG_MISMATCH',
    'GENERATION_MISMATCH',
    'GENERATION_NOT_FOUND',
    'GENERATION_ERASED',
    'GENERATION_OUTDATED',
    'SNAPSHOT_UNREADABLE',
    'IDEMPOTENCY_KEY_REUSED',
  ],
  example: { generation: 2 },
  handle: async (dependencies, { caller, params, body, header, locale }) => {
    const request = { caller, ...params, ...body, ifMatch: header('if-match'), locale };
    return json(await restoreGeneration(dependencies, request));
  },
});

export const deleteMessageRoute = userRoute({
  operation: 'deleteMessage',
  summary:
    'Erases a user message with its answer, or an answer alone, and all that was made of it. Its place in the transcript stays, empty.',
  params: messageParams,
  response: messageResponse,
  errors: ['TURN_IN_PROGRESS'],
  handle: async (dependencies, { caller, params }) =>
    json(await deleteMessage(dependencies, { caller, ...params })),
});

export const deleteConversationRoute = userRoute({
  operation: 'deleteConversation',
  isSensitive: true,
  summary:
    'Puts a conversation into the bin, from where it can be taken back for a time; `permanent` erases it, in the bin or not, without a way back.',
  params: conversationParams,
  query: deleteConversationQuery,
  response: deleteConversationResponse,
  statuses: [200, 202],
  requestHeaders: IF_MATCH_HEADER,
  errors: ['APP_CHECK_REPLAYED', 'ETAG_MISMATCH', 'GENERATION_MISMATCH'],
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
    return json(conversationView(conversationId, conversation));
  },
});

export const undeleteConversationRoute = userRoute({
  operation: 'undeleteConversation',
  summary: 'Takes a conversation out of the bin.',
  params: conversationParams,
  response: conversationResponse,
  handle: async (dependencies, { caller, params }) => {
    const { conversationId } = params;
    const conversation = await undeleteConversation(dependencies, { caller, conversationId });
    return json(conversationView(conversationId, conversation));
  },
});

export const forkConversationRoute = userRoute({
  operation: 'forkConversation',
  summary: 'Copies a conversation up to a message into a new one.',
  params: conversationParams,
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
  summary: 'Erases everything of the caller, without a way back.',
  response: erasingResponse,
  statuses: [202],
  errors: ['APP_CHECK_REPLAYED', 'CONVERSATION_BUSY', 'FILES_UNAVAILABLE'],
  handle: async (dependencies, { caller }) => ({
    kind: 'json',
    status: 202,
    body: await eraseUser(dependencies, { caller }),
  }),
});
