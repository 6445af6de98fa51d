import { GuardLostError } from '../errors.ts';
import type { DocumentStore, StoredDocument, Write } from '../ports.ts';
import { blobsNamedBy, erasedFields, withoutTurns } from './erased-history.ts';
import { readPending } from './erase-turn.ts';
import type { Head, Versioned } from './head.ts';
import { decodeHistory, type History } from './history.ts';
import { blobPiecePath, headPath, historyPath, streamPath, turnPath } from './paths.ts';
import { readTurns } from './read-conversation.ts';
import { sameHeadWrite } from './same-head-write.ts';

/** Sends change the head while this works; a batch that lost to one is tried again, this often. */
const TRIES = 50;

/** Histories of one read, and of one batch: each may hold most of a MiB before, little after. */
const HISTORIES_PER_PAGE = 20;

type Store = Pick<DocumentStore, 'get' | 'commit' | 'deleteBelow'>;

interface Erasure {
  store: Store;
  conversationId: string;
  head: Versioned<Head>;
  pending: NonNullable<Head['pendingErasure']>;
}

/** Overflow pieces and the chunks of the stream. The turn names none of them any more. */
async function erasePieces({ store, conversationId, pending }: Erasure): Promise<void> {
  for (const seq of pending.seqs) {
    await store.deleteBelow(turnPath(conversationId, seq));
    await store.deleteBelow(streamPath(conversationId, seq));
  }
}

/** The turns of which a history can hold something: a failed one was never in a context. */
async function foldedSeqs({ store, conversationId, pending }: Erasure): Promise<number[]> {
  const turns = await readTurns(store, conversationId, pending.seqs);
  return turns.flatMap(({ value }) => (value.state === 'failed' ? [] : [value.seq]));
}

/** Commits writes that hold only while the head is as it was read. */
const commitUnderHead = ({ store, conversationId, head }: Erasure, writes: readonly Write[]) =>
  writes.length === 0
    ? Promise.resolve([])
    : store.commit([sameHeadWrite(conversationId, head.updateTime), ...writes]);

async function cleanPage(
  erasure: Erasure,
  documents: readonly StoredDocument[],
  seqs: readonly number[],
): Promise<History[]> {
  const pairs = documents.map((document) => {
    const history = decodeHistory(document);
    // Later generations were made without the turn: the change emptied it before they began.
    const isOlder = history.generation < erasure.head.value.changedIn;
    return { document, history, cleaned: isOlder ? withoutTurns(history, seqs) : history };
  });
  await commitUnderHead(
    erasure,
    pairs
      .filter(({ history, cleaned }) => history !== cleaned)
      .map(({ document, cleaned }) => ({
        op: 'update',
        path: document.path,
        fields: erasedFields(cleaned),
        guard: { updateTime: document.updateTime },
      })),
  );
  return pairs.map(({ cleaned }) => cleaned);
}

/** Empties the histories of the erased turns; the blobs that the others still name. */
async function eraseHistories(erasure: Erasure): Promise<Set<string>> {
  const { store, conversationId, head, pending } = erasure;
  const seqs = await foldedSeqs(erasure);
  const stillNamed = new Set<string>();
  for (let first = 1; first <= head.value.generation; first += HISTORIES_PER_PAGE) {
    const length = Math.min(HISTORIES_PER_PAGE, head.value.generation - first + 1);
    const paths = Array.from({ length }, (_, i) => historyPath(conversationId, first + i));
    const documents = (await store.get(paths)).filter((document) => document !== undefined);
    for (const history of await cleanPage(erasure, documents, seqs))
      for (const { seq, name } of blobsNamedBy(history))
        if (!pending.seqs.includes(seq)) stillNamed.add(name);
  }
  return stillNamed;
}

async function eraseBlob(erasure: Erasure, sha256: string): Promise<void> {
  const { store, conversationId } = erasure;
  for (let index = 0; ; index++) {
    const path = blobPiecePath(conversationId, { sha256, index });
    const [piece] = await store.get([path]);
    if (!piece) return;
    await commitUnderHead(erasure, [{ op: 'delete', path }]);
  }
}

async function eraseOnce(erasure: Erasure): Promise<void> {
  await erasePieces(erasure);
  const stillNamed = await eraseHistories(erasure);
  for (const name of erasure.pending.blobs ?? [])
    if (!stillNamed.has(name)) await eraseBlob(erasure, name);
  await erasure.store.commit([
    {
      op: 'update',
      path: headPath(erasure.conversationId),
      fields: {},
      remove: ['pendingErasure'],
      guard: { updateTime: erasure.head.updateTime },
    },
  ]);
}

/**
 * Erases turns that have been emptied from all that was made of them: overflow pieces, stream chunks,
 * every history that covers them, blobs that only they name; then takes the note off the head. May stop
 * anywhere and be repeated; nothing pending → nothing to do. Throws GuardLostError when others changed
 * the conversation all the while, StoreUnavailableError.
 */
export async function finishErasure(
  { store }: { store: Store },
  conversationId: string,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await readPending(store, conversationId);
    if (!found) return;
    try {
      await eraseOnce({ store, conversationId, head: found, pending: found.pending });
      return;
    } catch (error) {
      if (!(error instanceof GuardLostError) || tries === TRIES) throw error;
    }
  }
}
