import {
  exportConversation,
  exportUser,
  readFoldedTurns,
} from '../conversations/export-conversation.ts';
import { searchConversations } from '../inbox/search-conversations.ts';
import { searchMessages } from '../features/search-messages.ts';
import { type TextReply, json, userRoute, publicRoute } from '../route.ts';
import { conversationParams, exportQuery, searchQuery } from '#shared/wire/fields.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { searchAllResponse, searchResponse } from '#shared/wire/resources/search.ts';

const FORMATS = {
  jsonl: { contentType: 'application/jsonl; charset=utf-8', extension: 'jsonl' },
  markdown: { contentType: 'text/markdown; charset=utf-8', extension: 'md' },
} as const;

/** `name` holds nothing but what a header takes. */
const attachment = (
  text: AsyncGenerator<string>,
  { name, format }: { name: string; format: keyof typeof FORMATS },
): TextReply => ({
  kind: 'text',
  headers: {
    'content-type': FORMATS[format].contentType,
    'content-disposition': `attachment; filename="${name}.${FORMATS[format].extension}"`,
  },
  text,
  brokenEvent: 'export_broken',
});

export const exportConversationRoute = userRoute({
  operation: 'exportConversation',
  isSensitive: true,
  summary: 'The full transcript as a file: JSON, a line a message, or Markdown.',
  params: conversationParams,
  query: exportQuery,
  response: exportLineResponse,
  errors: ['APP_CHECK_REPLAYED'],
  media: ['application/jsonl', 'text/markdown'],
  handle: async (dependencies, { caller, params, query }) => {
    const { conversationId } = params;
    const { format } = query;
    const text = await exportConversation(dependencies, { caller, conversationId, format });
    return attachment(text, { name: `conversation-${conversationId}`, format });
  },
});

export const exportUserRoute = userRoute({
  operation: 'exportUser',
  isSensitive: true,
  summary:
    'What is remembered about the caller, their uploads, each with an address for some minutes, and all conversations, those in the bin included, as one file of JSON lines.',
  response: exportLineResponse,
  errors: ['APP_CHECK_REPLAYED'],
  media: ['application/jsonl'],
  handle: (dependencies, { caller }) =>
    attachment(exportUser(dependencies, caller), { name: 'conversations', format: 'jsonl' }),
});

const TOKEN_HEADER = 'X-Recap-Read-Token';

export const foldedTurnsRoute = publicRoute({
  operation: 'readFoldedTurns',
  summary:
    'The turns that a compaction folds as JSON lines, for the preCompact webhook that was given a token for them; no user is signed in.',
  params: conversationParams,
  response: exportLineResponse,
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

export const searchRoute = userRoute({
  operation: 'searchConversation',
  summary:
    'Messages of the full transcript that have the words of `q`, the best first; 2,000 turns a request, the newest first.',
  params: conversationParams,
  query: searchQuery,
  response: searchResponse,
  handle: async (dependencies, { caller, params, query }) =>
    json(await searchMessages(dependencies, { caller, ...params, ...query })),
});

export const searchAllRoute = userRoute({
  operation: 'searchAllConversations',
  summary:
    'Messages of all conversations of the caller, archived ones included, that have the words of `q`: up to 50 conversations a request, those with the newest message first; of each its newest 200 turns that are not folded and the index of its newest 4,000 folded ones, and its 10 best hits.',
  query: searchQuery,
  response: searchAllResponse,
  handle: async (dependencies, { caller, query, left }) =>
    json(await searchConversations(dependencies, { caller, ...query, left })),
});
