import type { Write } from '#shared/ports/ports.ts';
import { headPath } from '../documents/paths.ts';

/**
 * Changes nothing and fails when the head has changed since it was read: the guard of a batch that
 * creates the first document of its kind below a conversation. The head keeps its update time, so nobody
 * else loses by it.
 */
export const sameHeadWrite = (conversationId: string, updateTime: string): Write => ({
  op: 'update',
  path: headPath(conversationId),
  fields: { schemaVersion: 1 },
  guard: { updateTime },
});
