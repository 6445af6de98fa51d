import { createHash, randomUUID } from 'node:crypto';
import { importedId } from '#infra/ops/import/import-discussion.ts';
import { readTurns, readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import type { DocumentFields, DocumentStore } from '#shared/ports/ports.ts';
import type { DocumentTree } from '#infra/ops/document-tree.ts';
import type { VerifyWorld } from '#test/support/compaction/verifying.ts';
import { ops } from '#test/support/processes/ops.ts';

/** Documents as the extension firestore-genai-chatbot writes them, by their ids. */
type ExtensionDocuments = Readonly<Record<string, DocumentFields>>;

export const PATTERN = 'users/{uid}/discussions/{discussionId}/messages';
const collectionPath = (uid: string, discussion: string) =>
  `users/${uid}/discussions/${discussion}/messages`;

const START_MS = Date.parse('2025-03-01T10:00:00.000Z');
/** When message `n` was sent. */
export const sentAt = (n: number) => new Date(START_MS + n * 60_000);

export const answeredDocument = (n: number, prompt: string, response: string): DocumentFields => ({
  prompt,
  response,
  createTime: sentAt(n),
  status: {
    state: 'COMPLETED',
    startTime: sentAt(n),
    updateTime: new Date(sentAt(n).getTime() + 4_000),
    completeTime: new Date(sentAt(n).getTime() + 4_000),
  },
});

/** Answered messages; the order of their ids is not that of their times. */
export const answeredDocuments = (count: number, filler = ''): ExtensionDocuments =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      createHash('sha256').update(String(i)).digest('hex').slice(0, 20),
      answeredDocument(i + 1, `Question ${i + 1}${filler}`, `Answer ${i + 1}${filler}`),
    ]),
  );

/** Stores a discussion, and the documents above it. */
export async function storeDiscussion(
  store: DocumentStore,
  collection: string,
  documents: ExtensionDocuments,
): Promise<void> {
  const writes = Object.entries(documents).map(
    ([id, fields]) => ({ op: 'create', path: `${collection}/${id}`, fields }) as const,
  );
  for (let first = 0; first < writes.length; first += 100)
    await store.commit(writes.slice(first, first + 100));
}

/** The documents that a path stands below, as an app makes them that lists its users and discussions. */
async function storeParents(store: DocumentStore, collection: string): Promise<void> {
  const segments = collection.split('/');
  const parents = segments.flatMap((_, i) =>
    i % 2 === 1 ? [segments.slice(0, i + 1).join('/')] : [],
  );
  const found = await store.get(parents);
  const missing = parents.filter((_, i) => found[i] === undefined);
  await store.commit(missing.map((path) => ({ op: 'create', path, fields: { name: 'mine' } })));
}

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const conversationIdFor = (collection: string) => importedId(sha256, collection);

/** What is told in the turns of a conversation. */
export async function transcript(store: DocumentStore, conversationId: string, lastSeq: number) {
  const seqs = Array.from({ length: lastSeq }, (_, i) => i + 1);
  const turns = await readTurns(store, conversationId, seqs);
  return turns.map(({ value }) => ({
    said: [value.user, ...value.contents].map(contentText),
    state: value.state,
    inContext: value.inContext,
    createTime: value.createTime,
    finishTime: value.finishTime,
  }));
}

/** Chat, worker and a database that the extension has written to. */
export interface ImportWorld extends VerifyWorld {
  tree: DocumentTree | undefined;
}

/** A store whose process is killed at a commit: neither that one nor any later one is applied. */
export function killedAt(store: DocumentStore, nth: number): DocumentStore {
  let commits = 0;
  return {
    ...store,
    commit: (writes) => {
      commits += 1;
      return commits < nth ? store.commit(writes) : Promise.reject(new Error('killed'));
    },
  };
}

export const run = ({ chat, tree }: ImportWorld, ...argv: string[]) =>
  ops({ chat }, ['import', '--from', PATTERN, ...argv], tree && { tree });

/** A discussion of user u1 in a world of its own. */
export async function storedDiscussion(world: ImportWorld, documents: ExtensionDocuments) {
  const collection = collectionPath('u1', randomUUID());
  await storeDiscussion(world.store, collection, documents);
  if (!world.tree) await storeParents(world.store, collection);
  return { collection, conversationId: conversationIdFor(collection) };
}

export const readImported = async ({ store }: ImportWorld, conversationId: string) =>
  (await readConversation(store, conversationId))?.value;
