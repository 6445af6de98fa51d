import { toContextObject, readContext } from '../context/view-context.ts';
import { createConversation, updateConversation } from '../conversations/write-conversation.ts';
import { json, userRoute, LANGUAGE_HEADER, IF_MATCH_HEADER } from '../route.ts';
import { conversationParams } from '#shared/wire/fields.ts';
import {
  conversationPatchSchema,
  conversationResponse,
  conversationView,
  conversationWithContextResponse,
  createConversationBody,
  patchConversationQuery,
} from '#shared/wire/resources/conversations.ts';
import { toEtag, isKnownTo } from '../conversations/etag.ts';

/** Why the fields of a conversation are not taken as they were sent. */
const FIELD_ERRORS = [
  'FIELD_NOT_WRITABLE',
  'TOOL_NAME_TAKEN',
  'THRESHOLD_TOO_HIGH',
  'THRESHOLD_TOO_LOW',
  'ROUTING_NOT_SET',
  'MODEL_UNKNOWN',
  'BAD_SETTING',
  'OVERHEAD_TOO_LARGE',
] as const;

export const createConversationRoute = userRoute({
  operation: 'createConversation',
  summary: 'Creates a conversation. Optional: sending to an unknown id creates it too.',
  body: createConversationBody,
  response: conversationResponse,
  statuses: [201, 200],
  responseHeaders: { Location: 'The address of the conversation.' },
  errors: [
    'IDEMPOTENCY_KEY_REUSED',
    'CONVERSATION_NOT_FOUND',
    'USER_DAILY_CREATIONS',
    'ANONYMOUS_LIMIT',
    ...FIELD_ERRORS,
  ],
  example: { title: 'The boat', settings: { thresholdTokens: 20_000 } },
  handle: async (dependencies, { caller, body }) => {
    const { id, ...fields } = body;
    const created = await createConversation(dependencies, { caller, id, fields });
    return {
      kind: 'json',
      status: created.isNew ? 201 : 200,
      headers: { location: `/v1/conversations/${created.conversationId}` },
      body: conversationView(created.conversationId, created.conversation),
    };
  },
});

export const getConversationRoute = userRoute({
  operation: 'getConversation',
  summary:
    'A conversation and how full its context is. The ETag goes into If-Match of a change, or into If-None-Match.',
  params: conversationParams,
  response: conversationWithContextResponse,
  statuses: [200, 304],
  requestHeaders: {
    ...LANGUAGE_HEADER,
    'If-None-Match': 'An ETag of this conversation; 304 without a body when nothing has changed.',
  },
  responseHeaders: { ETag: 'Goes into `If-Match` of a change.' },
  handle: async (dependencies, { caller, params, header, locale }) => {
    const { conversationId } = params;
    const context = await readContext(dependencies, { caller, conversationId });
    const body = {
      ...conversationView(conversationId, context.conversation.value),
      context: toContextObject(dependencies, context, locale),
    };
    const etag = toEtag(dependencies.sha256, context.conversation, body);
    if (isKnownTo(header('if-none-match'), etag))
      return { kind: 'empty', status: 304, headers: { etag } };
    return { kind: 'json', headers: { etag }, body };
  },
});

export const patchConversationRoute = userRoute({
  operation: 'updateConversation',
  summary:
    'Changes fields of a conversation. `updateMask` names them; one that the body lacks is reset.',
  params: conversationParams,
  query: patchConversationQuery,
  body: conversationPatchSchema,
  response: conversationResponse,
  requestHeaders: IF_MATCH_HEADER,
  errors: ['ETAG_MISMATCH', 'GENERATION_MISMATCH', ...FIELD_ERRORS],
  example: { title: 'The boat, second try' },
  handle: async (dependencies, { caller, params, query, body, header }) => {
    const { conversationId } = params;
    const conversation = await updateConversation(dependencies, {
      caller,
      conversationId,
      patch: body,
      updateMask: query.updateMask,
      ifMatch: header('if-match'),
    });
    return json(conversationView(conversationId, conversation));
  },
});
