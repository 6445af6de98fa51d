import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { type History, readStoredHistory } from '#shared/conversation/documents/history.ts';
import {
  emptiedHistory,
  erasedFields,
  withoutTurns,
  type Gone,
} from '#shared/conversation/writes/erased-history.ts';
import type { DocumentStore, Logger, StoredDocument, Write } from '#shared/ports/ports.ts';
import type { conversationPolicy } from '../config/conversation-policy.ts';
import { createRenderer } from '../context/snapshot-rendering.ts';

/** Characters of one batch, at most three bytes each: a commit takes 3.5 MiB. One document may have more. */
const BATCH_CHARACTERS = 1_000_000;

/** What histories are read and mended with. */
export interface HistoryCleaning {
  store: Pick<DocumentStore, 'commit'>;
  logger: Pick<Logger, 'log'>;
  config: Parameters<typeof conversationPolicy>[0];
}

interface Erased {
  conversationId: string;
  conversation: Conversation;
  /** The erased turns of which a history may tell. */
  seqs: readonly number[];
  /** Items that repeat them. */
  items: NonNullable<NonNullable<Conversation['pendingErasure']>['items']>;
}

/** A history of a generation before the erasure, with nothing of the erased turns. */
function withoutErased(
  config: HistoryCleaning['config'],
  erased: Erased,
  history: History,
): History {
  const { conversation, seqs } = erased;
  // What cannot be read may hold anything.
  if (history.isUnreadable) return emptiedHistory(history);
  const repeating = erased.items.filter(({ generation }) => generation === history.generation);
  if (repeating.some(({ ids }) => ids.length === 0)) return emptiedHistory(history);
  const ids = new Set(repeating.flatMap((items) => items.ids));
  const gone: Gone = { seqs, isGoneItem: ({ id }) => ids.has(id) };
  return withoutTurns(history, gone, createRenderer(config, conversation));
}

async function commitInBatches(
  store: HistoryCleaning['store'],
  writes: readonly Extract<Write, { op: 'update' }>[],
): Promise<void> {
  let batch: Write[] = [];
  let characters = 0;
  for (const write of writes) {
    const size = JSON.stringify(write.fields).length;
    if (batch.length > 0 && characters + size > BATCH_CHARACTERS) {
      await store.commit(batch);
      batch = [];
      characters = 0;
    }
    batch.push(write);
    characters += size;
  }
  if (batch.length > 0) await store.commit(batch);
}

/**
 * Takes what came of the erased turns out of stored histories, and returns all of them as they are now. Batch by batch;
 * it may stop anywhere and be repeated. Throws GuardLostError, StoreUnavailableError.
 */
export async function cleanHistories(
  cleaning: HistoryCleaning,
  erased: Erased,
  documents: readonly StoredDocument[],
): Promise<History[]> {
  const all = documents.map((document) => {
    const history = readStoredHistory(cleaning, erased.conversationId, document);
    // Later generations were made without the turn: the change emptied it before they began.
    const isOlder = history.generation < erased.conversation.changedIn;
    const cleaned = isOlder ? withoutErased(cleaning.config, erased, history) : history;
    return { document, history, cleaned };
  });
  const writes = all.flatMap(({ document: { path, updateTime }, history, cleaned }) =>
    cleaned === history
      ? []
      : [{ op: 'update' as const, path, fields: erasedFields(cleaned), guard: { updateTime } }],
  );
  await commitInBatches(cleaning.store, writes);
  return all.map(({ cleaned }) => cleaned);
}
