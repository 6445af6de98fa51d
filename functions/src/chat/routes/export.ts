import { z } from 'zod';
import { conversationParams } from '#shared/wire/fields.ts';
import { exportQuery, noQuery } from '#shared/wire/queries.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { exportConversation, exportUser } from '../conversations/export-conversation.ts';
import { emptyBody, noBody, userRoute, type TextReply } from '../route.ts';

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
  method: 'GET',
  path: '/v1/conversations/{conversationId}:export',
  summary: 'The full transcript as a file: JSON, a line a message, or Markdown.',
  params: conversationParams,
  query: exportQuery,
  body: noBody,
  response: exportLineResponse,
  statuses: [200],
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
  method: 'POST',
  path: '/v1/users/me:export',
  summary:
    'What is remembered about the caller, their uploads, each with an address for some minutes, and all conversations, those in the bin included, as one file of JSON lines.',
  params: z.strictObject({}),
  query: noQuery,
  body: emptyBody,
  response: exportLineResponse,
  follows: { listConversations: {} },
  statuses: [200],
  errors: ['APP_CHECK_REPLAYED'],
  media: ['application/jsonl'],
  handle: (dependencies, { caller }) =>
    Promise.resolve(
      attachment(exportUser(dependencies, caller), { name: 'conversations', format: 'jsonl' }),
    ),
});
