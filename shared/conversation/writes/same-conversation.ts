import type { Write } from '#shared/ports/ports.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';

/**
 * Changes nothing and fails when the conversation document has changed since it was read: the guard of a batch that
 * creates the first document of its kind below a conversation. The conversation document keeps its update time, so no
 * other batch loses its guard.
 */
export const sameConversationWrite = (conversationId: string, updateTime: string): Write => ({
  op: 'update',
  path: conversationPath(conversationId),
  fields: { schemaVersion: 1 },
  guard: { updateTime },
});
