import { randomUUID } from 'node:crypto';
import type { DocumentFields, DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import {
  compactionJobPath,
  conversationPath,
  historiesCollection,
} from '#shared/conversation/documents/paths.ts';
import { readTurnDocument } from '#shared/conversation/documents/turn.ts';

const pageSize = 300;

async function readCollection(store: DocumentStore, collection: string): Promise<StoredDocument[]> {
  const documents: StoredDocument[] = [];
  for (;;) {
    const last = documents.at(-1);
    const page = await store.query({
      collection,
      limit: pageSize,
      ...(last && { startAfter: { path: last.path } }),
    });
    documents.push(...page);
    if (page.length < pageSize) return documents;
  }
}

async function readBelow(store: DocumentStore, from: string): Promise<StoredDocument[]> {
  const turns = await readCollection(store, `${conversationPath(from)}/turns`);
  const pieces = await store.get(
    turns
      .flatMap((turn) => readTurnDocument(from, turn).piecePaths)
      .concat(compactionJobPath(from)),
  );
  return [
    ...turns,
    ...(await readCollection(store, historiesCollection(from))),
    ...pieces.filter((piece) => piece !== undefined),
  ];
}

/**
 * Copies a conversation to a new id, below the service: for experiments on the store of a test. The copy
 * is compacted no further, and `change` may alter any document on the way. Returns the new id.
 */
export async function copyConversation(
  store: DocumentStore,
  from: string,
  change: (path: string, fields: DocumentFields) => DocumentFields = (_, fields) => fields,
): Promise<string> {
  const to = randomUUID();
  const [document] = await store.get([conversationPath(from)]);
  if (!document) throw new Error(`there is no conversation ${from} to copy`);
  const { settings } = decodeConversation(document).value;
  // Its own epoch, or caches would take the copy for the original.
  const conversation = { ...document.fields, epoch: randomUUID() };
  const fields = { ...conversation, settings: { ...settings, compaction: 'off' } };
  const writes = [
    {
      op: 'create' as const,
      path: conversationPath(to),
      fields: change(conversationPath(to), fields),
    },
    ...(await readBelow(store, from)).map((below) => {
      const path = `${conversationPath(to)}${below.path.slice(conversationPath(from).length)}`;
      return { op: 'create' as const, path, fields: change(path, below.fields) };
    }),
  ];
  for (let start = 0; start < writes.length; start += pageSize)
    await store.commit(writes.slice(start, start + pageSize));
  return to;
}

/** Blanks the snapshot of every generation. */
export function withoutSnapshot(path: string, fields: DocumentFields): DocumentFields {
  return path.includes('/histories/') ? { ...fields, snapshotText: '' } : fields;
}
