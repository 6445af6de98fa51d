import { randomUUID } from 'node:crypto';
import type { DocumentTree } from '#infra/ops/document-tree.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { VerifyWorld } from '../compaction/verifying.ts';
import { ops } from '../processes/ops.ts';
import {
  collectionPath,
  conversationIdFor,
  PATTERN,
  storeDiscussion,
  storeParents,
  type ExtensionDocuments,
} from './extension.ts';

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
