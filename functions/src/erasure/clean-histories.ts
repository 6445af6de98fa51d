import { withoutTurns, type Gone } from '#shared/conversation/writes/repair-history.ts';
import { emptiedHistory, erasedFields } from '#shared/conversation/writes/erased-history.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { cleanedHistory, readSignedHistory } from '#shared/conversation/context/signed-history.ts';
import type {
  DocumentFields,
  DocumentStore,
  Logger,
  Signer,
  StoredDocument,
  Write,
} from '#shared/ports/ports.ts';
import type { conversationPolicy } from '../config/conversation-policy.ts';
import { createRenderer } from '../context/snapshot-rendering.ts';

/** Characters of one batch, at most three bytes each: a commit takes 3.5 MiB. One document may have more. */
const BATCH_CHARACTERS = 1_000_000;

/** What histories are read, mended and signed with. */
export interface HistoryCleaning {
  store: Pick<DocumentStore, 'commit'>;
  signer: Signer;
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
  // What somebody else wrote may hold anything, whatever it cites.
  if (history.isUntrusted) return emptiedHistory(history);
  const repeating = erased.items.filter(({ generation }) => generation === history.generation);
  if (repeating.some(({ ids }) => ids.length === 0)) return emptiedHistory(history);
  const ids = new Set(repeating.flatMap((items) => items.ids));
  const gone: Gone = { seqs, isGoneItem: ({ id }) => ids.has(id) };
  return withoutTurns(history, gone, createRenderer(config, conversation));
}

interface Cleaned {
  left: History;
  /** Of the stored document; undefined: it stays as it is. */
  fields?: DocumentFields;
}

/** The same, signed so that no earlier form of it is valid any more; one that says nothing needs no signature. */
function cleaned({ signer, config }: HistoryCleaning, erased: Erased, history: History): Cleaned {
  const { conversationId, conversation } = erased;
  const left = withoutErased(config, erased, history);
  const isSame = left === history;
  if (left.erased === true) return isSame ? { left } : { left, fields: erasedFields(left) };
  const signed = cleanedHistory(signer, { conversationId, erasedIn: conversation.changedIn }, left);
  return { left: signed, fields: isSame ? { cleaned: signed.cleaned } : erasedFields(signed) };
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
 * Takes what came of the erased turns out of stored histories, signs all of them anew, and returns them as they are now.
 * Batch by batch; it may stop anywhere and be repeated. Throws GuardLostError, StoreUnavailableError.
 */
export async function cleanHistories(
  cleaning: HistoryCleaning,
  erased: Erased,
  documents: readonly StoredDocument[],
): Promise<History[]> {
  const all = documents.map((document): Cleaned & { document: StoredDocument } => {
    const history = readSignedHistory(cleaning, erased, document);
    // Later generations were made without the turn: the change emptied it before they began.
    const isOlder = history.generation < erased.conversation.changedIn;
    return { document, ...(isOlder ? cleaned(cleaning, erased, history) : { left: history }) };
  });
  const writes = all.flatMap(({ document: { path, updateTime }, fields }) =>
    fields ? [{ op: 'update' as const, path, fields, guard: { updateTime } }] : [],
  );
  await commitInBatches(cleaning.store, writes);
  return all.map(({ left }) => left);
}
