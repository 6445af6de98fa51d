import {
  blobsCollection,
  historiesCollection,
  messageGuardsCollection,
  turnsCollection,
} from '#shared/conversation/documents/paths.ts';
import { readTurnDocument } from '#shared/conversation/documents/turn.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { commitToFork, type ForkTarget } from './fork-target.ts';

/** Documents of one read and one batch; each may have a MiB, and a turn a few pieces beside it. */
const DOCUMENTS_PER_PAGE = 10;

/** Deletes what a collection holds, page by page; `pathsOf` says what goes with a document. */
async function clearCollection(
  dependencies: ChatDependencies,
  { target, collection }: { target: ForkTarget; collection: string },
  pathsOf: (document: StoredDocument) => string[],
): Promise<void> {
  for (;;) {
    const page = await dependencies.store.query({ collection, limit: DOCUMENTS_PER_PAGE });
    if (page.length === 0) return;
    const deletes = page
      .flatMap((document) => pathsOf(document))
      .map((path) => ({ op: 'delete', path }) as const);
    await commitToFork(dependencies, target, { build: () => Promise.resolve(deletes) });
  }
}

/**
 * Deletes what an earlier try has left below the document of a fork. Every batch is committed under the conversation
 * document, so a maker that stood still while another took over deletes nothing of what that one made. Throws
 * FORK_TAKEN_OVER, StoreUnavailableError.
 */
export async function clearFork(dependencies: ChatDependencies, target: ForkTarget): Promise<void> {
  const { conversationId } = target;
  const turns = { target, collection: turnsCollection(conversationId) };
  await clearCollection(dependencies, turns, (document) => [
    document.path,
    ...readTurnDocument(conversationId, document).piecePaths,
  ]);
  for (const collection of [
    messageGuardsCollection(conversationId),
    historiesCollection(conversationId),
    blobsCollection(conversationId),
  ])
    await clearCollection(dependencies, { target, collection }, ({ path }) => [path]);
}
