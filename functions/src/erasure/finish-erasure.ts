import type { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { createRenderer } from '#functions/context/snapshot-rendering.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { eraseNotesFrom } from '#functions/memory/change-notes.ts';
import {
  fittingSegment,
  unpackSegment,
  type StoredSegment,
} from '#functions/recall/segment-document.ts';
import {
  readConversation,
  readTurnDocuments,
} from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { readStoredHistory, type History } from '#shared/conversation/documents/history.ts';
import {
  conversationPath,
  historyPath,
  streamPath,
  turnPath,
  turnPiecesCollection,
  recallPath,
} from '#shared/conversation/documents/paths.ts';
import type { TurnDocument } from '#shared/conversation/documents/turn.ts';
import { isQuestionErased } from '#shared/conversation/writes/erase-turn.ts';
import {
  emptiedHistory,
  erasedFields,
  withoutTurns,
  type Gone,
} from '#shared/conversation/writes/erased-history.ts';
import type {
  FileBucket,
  Clock,
  DocumentStore,
  Logger,
  StoredDocument,
} from '#shared/ports/ports.ts';
import { segmentNumber } from '#shared/recall/segment.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { turnKey } from '#shared/uploads/upload.ts';
import { releaseUploads } from './release-uploads.ts';

/**
 * Sends change the conversation document while this works; the last step, which lost to one, is tried again this often.
 */
const FINISH_TRIES = 50;

/** Histories of one read; each may hold most of a MiB. */
const HISTORIES_PER_PAGE = 20;
/** Overflow pieces of one read; each holds up to 450 KiB. */
const PIECES_PER_PAGE = 10;

/** What an erasure works with. */
interface ErasureDependencies {
  store: Pick<DocumentStore, 'get' | 'query' | 'commit' | 'deleteBelow'>;
  logger: Pick<Logger, 'log'>;
  config: Parameters<typeof conversationPolicy>[0];
  clock: Pick<Clock, 'now' | 'wait'>;
  /** The bucket of uploads; undefined where there are none. */
  files?: FileBucket | undefined;
}

interface Erasure {
  dependencies: Omit<ErasureDependencies, 'clock'>;
  conversationId: string;
  conversation: Versioned<Conversation>;
  pending: NonNullable<Conversation['pendingErasure']>;
}

/**
 * Erases turns that have been emptied from all that was made of them: overflow pieces, stream chunks, every history
 * that covers them, the index of recall, notes that a tool made of them; then takes the note
 * off the conversation document. May stop anywhere and be repeated; nothing pending → nothing to do. Throws
 * GuardLostError when others changed the conversation all the while, StoreUnavailableError.
 */
export async function finishErasure(
  dependencies: ErasureDependencies,
  conversationId: string,
): Promise<void> {
  let erasedState: string | undefined;
  await retryWhenLost(
    dependencies.clock,
    async () => {
      const erasure = await readErasure(dependencies, conversationId);
      if (!erasure) return;
      const state = stateOf(erasure);
      if (erasedState !== state) {
        const { ownerUid: uid } = erasure.conversation.value;
        await eraseNotesFrom(dependencies, { uid, conversationId, seqs: erasure.pending.seqs });
        await eraseBelow(erasure);
        erasedState = state;
      }
      await settle(erasure);
    },
    FINISH_TRIES,
  );
}

/** The erasure that the conversation document says is to be finished, or undefined. */
async function readErasure(
  dependencies: ErasureDependencies,
  conversationId: string,
): Promise<Erasure | undefined> {
  const { store } = dependencies;
  const conversation = await readConversation(store, conversationId);
  const pending = conversation?.value.pendingErasure;
  // What is being erased as a whole needs no erasing in part.
  if (!conversation || !pending || conversation.value.state === 'erasing') return undefined;
  return { dependencies, conversationId, conversation, pending };
}

async function readErasedTurns(erasure: Erasure): Promise<TurnDocument[]> {
  const { conversationId, pending } = erasure;
  const { store } = erasure.dependencies;
  const turns = await readTurnDocuments(store, conversationId, pending.seqs);
  return turns.filter((turn) => turn !== undefined);
}

/** Erases the overflow pieces that a turn does not name. */
async function eraseUnnamedPieces(
  { dependencies: { store }, conversationId }: Erasure,
  { value, piecePaths }: TurnDocument,
): Promise<void> {
  const collection = turnPiecesCollection(conversationId, value.seq);
  for await (const page of readPages(store, { collection, limit: PIECES_PER_PAGE })) {
    const unnamed = page.filter(({ path }) => !piecePaths.includes(path));
    if (unnamed.length > 0)
      await store.commit(unnamed.map(({ path }) => ({ op: 'delete', path }) as const));
  }
}

/** Erases the stream of a turn and its overflow pieces; those of a question that stays are still named. */
async function eraseBelowTurn(erasure: Erasure, turn: TurnDocument): Promise<void> {
  const { conversationId } = erasure;
  const { store } = erasure.dependencies;
  const { seq } = turn.value;
  await store.deleteBelow(streamPath(conversationId, seq));
  if (turn.piecePaths.length > 0) await eraseUnnamedPieces(erasure, turn);
  else await store.deleteBelow(turnPath(conversationId, seq));
}

/** Erases the turns from every history. */
async function eraseHistories(erasure: Erasure, turns: readonly TurnDocument[]): Promise<void> {
  const { conversationId, conversation } = erasure;
  const { store } = erasure.dependencies;
  // A failed turn without tool rounds was never in a context, so no history can hold something of it.
  const seqs = turns.flatMap(({ value }) =>
    value.state === 'failed' && value.rounds === undefined ? [] : [value.seq],
  );
  for (let first = 1; first <= conversation.value.generation; first += HISTORIES_PER_PAGE) {
    const length = Math.min(HISTORIES_PER_PAGE, conversation.value.generation - first + 1);
    const paths = Array.from({ length }, (_, i) => historyPath(conversationId, first + i));
    const documents = (await store.get(paths)).filter((document) => document !== undefined);
    await cleanHistories(erasure, seqs, documents);
  }
}

/** Deletes the files that only the erased questions named. */
async function eraseUploads(
  { dependencies, conversationId, conversation }: Erasure,
  turns: readonly TurnDocument[],
): Promise<void> {
  const { ownerUid } = conversation.value;
  const keys = new Set(
    turns
      .filter(({ value }) => isQuestionErased(value))
      .map(({ value }) => turnKey(conversationId, value.seq)),
  );
  if (keys.size === 0) return;
  await releaseUploads(dependencies, { ownerUid, isReleased: (key) => keys.has(key) });
}

/** Erases all that the conversation document has no part in. */
async function eraseBelow(erasure: Erasure): Promise<void> {
  const turns = await readErasedTurns(erasure);
  for (const turn of turns) await eraseBelowTurn(erasure, turn);
  await eraseUploads(erasure, turns);
  const { conversationId, pending } = erasure;
  await cleanIndex(erasure.dependencies.store, { conversationId, seqs: pending.seqs });
  await eraseHistories(erasure, turns);
}

/** Takes the note off the conversation document, while it is as it was read. */
async function settle({
  dependencies: { store },
  conversationId,
  conversation,
}: Erasure): Promise<void> {
  await store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {},
      remove: ['pendingErasure'],
      guard: { updateTime: conversation.updateTime },
    },
  ]);
}

/** What `eraseBelow` depends on: messages change the conversation document, and nothing of this. */
const stateOf = ({ conversation, pending }: Erasure): string =>
  JSON.stringify([
    conversation.value.ownerUid,
    conversation.value.generation,
    conversation.value.changedIn,
    pending.seqs,
    pending.items,
  ]);

/** Histories that are written side by side; each may hold most of a MiB. */
const WRITTEN_AT_ONCE = 4;

/** A history of a generation before the erasure, with nothing of the erased turns. */
function withoutErased(
  { dependencies, conversation, pending }: Erasure,
  seqs: readonly number[],
  history: History,
): History {
  // What cannot be read may hold anything.
  if (history.isUnreadable) return emptiedHistory(history);
  const repeating = (pending.items ?? []).filter(
    ({ generation }) => generation === history.generation,
  );
  if (repeating.some(({ ids }) => ids.length === 0)) return emptiedHistory(history);
  const ids = new Set(repeating.flatMap((items) => items.ids));
  const gone: Gone = { seqs, isGoneItem: ({ id }) => ids.has(id) };
  return withoutTurns(history, gone, createRenderer(dependencies.config, conversation.value));
}

/**
 * Takes what came of the turns `seqs`, of which a history may tell, out of stored histories. It may
 * stop anywhere and be repeated. Throws GuardLostError, StoreUnavailableError.
 */
async function cleanHistories(
  erasure: Erasure,
  seqs: readonly number[],
  documents: readonly StoredDocument[],
): Promise<void> {
  const { dependencies, conversationId, conversation } = erasure;
  const all = documents.map((document) => {
    const history = readStoredHistory(dependencies, conversationId, document);
    // Later generations were made without the turn: the change emptied it before they began.
    const isOlder = history.generation < conversation.value.changedIn;
    const cleaned = isOlder ? withoutErased(erasure, seqs, history) : history;
    return { document, history, cleaned };
  });
  const writes = all.flatMap(({ document: { path, updateTime }, history, cleaned }) =>
    cleaned === history
      ? []
      : [{ op: 'update' as const, path, fields: erasedFields(cleaned), guard: { updateTime } }],
  );
  await inParallel(writes, WRITTEN_AT_ONCE, (write) => dependencies.store.commit([write]));
}

function readable(document: StoredDocument): StoredSegment | undefined {
  try {
    return unpackSegment(document);
  } catch {
    return undefined;
  }
}

/**
 * Takes erased turns out of the index of recall: their passages, and every word that only they had. A part that cannot
 * be read may hold anything and goes whole; it is made anew when it is missed. May stop anywhere and be repeated. Throws
 * GuardLostError, StoreUnavailableError.
 */
async function cleanIndex(
  store: Pick<DocumentStore, 'get' | 'commit'>,
  erased: { conversationId: string; seqs: readonly number[] },
): Promise<void> {
  const { conversationId } = erased;
  const gone = new Set(erased.seqs);
  const numbers = [...new Set(erased.seqs.map(segmentNumber))];
  for (const number of numbers) {
    const path = recallPath(conversationId, number);
    const [document] = await store.get([path]);
    if (!document) continue;
    const guard = { updateTime: document.updateTime };
    const stored = readable(document);
    if (!stored) {
      await store.commit([{ op: 'delete', path, guard }]);
      continue;
    }
    const left = stored.segment.passages.filter(({ seq }) => !gone.has(seq));
    if (left.length === stored.segment.passages.length) continue;
    const fields = fittingSegment(left, stored.throughSeq);
    await store.commit([{ op: 'update', path, fields, guard }]);
  }
}
