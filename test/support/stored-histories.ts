import {
  decodeHistory,
  encodeHistory,
  type History,
} from '#shared/conversation/documents/history.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { noCache } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentFields, DocumentStore } from '#shared/ports/ports.ts';

/** What a reader of conversations needs that keeps nothing and logs nowhere. */
export const plainSource = (store: Pick<DocumentStore, 'get'>) => ({
  store,
  cache: noCache,
  logger: { log: () => undefined },
});

/** Changes a history as the server does. */
export async function rewriteHistory(
  store: Pick<DocumentStore, 'get' | 'commit'>,
  target: { conversationId: string; generation: number },
  changes: Partial<History>,
): Promise<void> {
  const path = historyPath(target.conversationId, target.generation);
  const [document] = await store.get([path]);
  if (!document) throw new Error(`there is no ${path}`);
  const fields = encodeHistory({ ...decodeHistory(document), ...changes });
  await store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
}

/** Puts something into a history document that nobody can read. */
export const damage = (
  store: Pick<DocumentStore, 'commit'>,
  target: { conversationId: string; generation: number },
  fields: DocumentFields = { snapshotText: 'DAMAGED', snapshotJson: '{"half' },
) =>
  store.commit([
    {
      op: 'update',
      path: historyPath(target.conversationId, target.generation),
      fields,
      guard: { exists: true },
    },
  ]);
