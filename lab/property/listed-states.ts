import { conversationPath, inboxPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore, StoredDocument, Write } from '#shared/ports/ports.ts';

/** A conversation and its entry in the inbox of its owner, as a commit left them. */
export interface ListedState {
  /** How many commits had been applied by then, this one included. */
  afterCommits: number;
  atMs: number;
  uid: string;
  conversationId: string;
  conversation: StoredDocument | undefined;
  entry: StoredDocument | undefined;
}

/** The conversation that a path names: the document itself, or its entry in an inbox, of which it names the owner, too. */
function namedBy(path: string): { conversationId: string; uid?: string | undefined } | undefined {
  const [collection, id = '', below, entryId, ...rest] = path.split('/');
  if (collection === 'conversations' && below === undefined) return { conversationId: id };
  if (collection !== 'users' || below !== 'inbox' || rest.length > 0) return undefined;
  return entryId === undefined ? undefined : { conversationId: entryId, uid: id };
}

/** Reads, after a commit, what it left of the conversations and entries that it wrote. */
export function createListedStates(store: Pick<DocumentStore, 'get'>) {
  /** A tombstone does not say whose the conversation was. */
  const owners = new Map<string, string>();
  return async (
    writes: readonly Write[],
    commit: Pick<ListedState, 'afterCommits' | 'atMs'>,
  ): Promise<ListedState[]> => {
    const named = writes.flatMap(({ path }) => namedBy(path) ?? []);
    const states: ListedState[] = [];
    for (const conversationId of new Set(named.map((each) => each.conversationId))) {
      const [conversation] = await store.get([conversationPath(conversationId)]);
      const inPath = named.find((each) => each.conversationId === conversationId && each.uid);
      const owner = conversation?.fields['ownerUid'] || inPath?.uid;
      if (typeof owner === 'string') owners.set(conversationId, owner);
      const uid = owners.get(conversationId);
      if (uid === undefined) continue;
      const [entry] = await store.get([inboxPath(uid, conversationId)]);
      states.push({ ...commit, uid, conversationId, conversation, entry });
    }
    return states;
  };
}
