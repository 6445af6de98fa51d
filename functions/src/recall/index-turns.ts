import type { SearchCache } from '#shared/recall/search-cache.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { readConversation, readTurnRange } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { conversationPath, recallPath } from '#shared/conversation/documents/paths.ts';
import type { Clock, DocumentStore, Logger, StoredDocument, Write } from '#shared/ports/ports.ts';
import {
  firstOfSegment,
  lastOfSegment,
  passagesOfTurns,
  segmentNumber,
  type Passage,
} from '#shared/recall/segment.ts';
import { textsOfTurn } from '#shared/search/turn-texts.ts';
import { foldedThrough } from './read-index.ts';
import { fittingSegment, readSegment } from './segment-document.ts';

/** Turns of one read; each may hold a MiB. */
const TURNS_PER_READ = 50;

/** What the index is written with. */
interface IndexDependencies {
  store: Pick<DocumentStore, 'get' | 'commit'>;
  /** What a run has read to fold it is not read again. */
  cache: SearchCache;
  clock: Pick<Clock, 'wait'>;
  logger: Pick<Logger, 'log'>;
}

interface Indexing {
  conversationId: string;
  /** Last turn that is to stand in the index. */
  throughSeq: number;
  signal?: AbortSignal;
}

/** What a stored segment holds of turns before `fromSeq`; undefined: nobody can tell, and they must be read again. */
function keptPassages(
  { logger }: IndexDependencies,
  document: StoredDocument | undefined,
  { fromSeq, conversation }: { fromSeq: number; conversation: Conversation },
): Passage[] | undefined {
  const stored = document && readSegment(logger, document);
  if (!stored || stored.throughSeq < fromSeq - 1) return undefined;
  const hidden = conversation.pendingErasure?.seqs ?? [];
  return stored.segment.passages.filter(({ seq }) => seq < fromSeq && !hidden.includes(seq));
}

async function readPassages(
  dependencies: IndexDependencies,
  { conversationId, signal }: Indexing,
  range: { conversation: Conversation; fromSeq: number; toSeq: number },
): Promise<Passage[]> {
  const passages: Passage[] = [];
  for (let fromSeq = range.fromSeq; fromSeq <= range.toSeq; fromSeq += TURNS_PER_READ) {
    signal?.throwIfAborted();
    const toSeq = Math.min(fromSeq + TURNS_PER_READ - 1, range.toSeq);
    const { conversation } = range;
    const turns = await readTurnRange(dependencies, {
      conversationId,
      conversation,
      fromSeq,
      toSeq,
    });
    passages.push(...passagesOfTurns(turns.map(textsOfTurn)));
  }
  return passages;
}

/** The segment that the first turn without an index stands in, as it is to be stored. */
async function nextSegment(
  dependencies: IndexDependencies,
  indexing: Indexing,
  { value: conversation, updateTime }: Versioned<Conversation>,
): Promise<{ writes: Write[]; indexedThrough: number } | undefined> {
  const { conversationId } = indexing;
  const done = conversation.indexedThrough ?? 0;
  const throughSeq = Math.min(indexing.throughSeq, conversation.lastSeq);
  if (conversation.state !== 'live' || done >= throughSeq) return undefined;
  const number = segmentNumber(done + 1);
  const first = firstOfSegment(number);
  const toSeq = Math.min(lastOfSegment(number), throughSeq);
  const path = recallPath(conversationId, number);
  const [document] = await dependencies.store.get([path]);
  const kept =
    done < first ? [] : keptPassages(dependencies, document, { fromSeq: done + 1, conversation });
  const fromSeq = kept === undefined ? first : Math.max(first, done + 1);
  const added = await readPassages(dependencies, indexing, { conversation, fromSeq, toSeq });
  const fields = fittingSegment([...(kept ?? []), ...added], toSeq);
  const segmentWrite: Write = document
    ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
    : { op: 'create', path, fields };
  const conversationWrite: Write = {
    op: 'update',
    path: conversationPath(conversationId),
    fields: { indexedThrough: toSeq },
    guard: { updateTime },
  };
  return { writes: [conversationWrite, segmentWrite], indexedThrough: toSeq };
}

/**
 * Puts the turns up to `throughSeq`, which must have ended, into the index of recall: segment by segment, the oldest
 * first, each in one batch with what the conversation document says of it. May stop anywhere and be repeated; what is
 * there is kept. Whoever changes a turn or the conversation document meanwhile wins, and it is read again. Resolves to
 * the last turn that is in it. Throws GuardLostError, StoreUnavailableError, and the signal's reason.
 */
export async function indexTurns(
  dependencies: IndexDependencies,
  indexing: Indexing,
): Promise<number> {
  const { store, clock } = dependencies;
  for (;;) {
    indexing.signal?.throwIfAborted();
    const written = await retryWhenLost(clock, async () => {
      const conversation = await readConversation(store, indexing.conversationId);
      if (!conversation) return { isDone: true, indexedThrough: 0 };
      const next = await nextSegment(dependencies, indexing, conversation);
      if (!next) return { isDone: true, indexedThrough: conversation.value.indexedThrough ?? 0 };
      await store.commit(next.writes);
      return { isDone: false, indexedThrough: next.indexedThrough };
    });
    if (written.isDone) return written.indexedThrough;
  }
}

/** The first segment up to `indexedThrough` that is missing, cannot be read or ends too early; undefined: all are whole. */
async function firstBrokenSegment(
  { store, logger }: IndexDependencies,
  conversationId: string,
  indexedThrough: number,
): Promise<number | undefined> {
  for (let number = 1; number <= segmentNumber(indexedThrough); number++) {
    const [document] = await store.get([recallPath(conversationId, number)]);
    const stored = document && readSegment(logger, document);
    if (!stored || stored.throughSeq < Math.min(lastOfSegment(number), indexedThrough))
      return number;
  }
  return undefined;
}

/** Takes back what the conversation document says of the index, to before the first segment that is broken. */
async function takeBack(dependencies: IndexDependencies, conversationId: string): Promise<void> {
  const { store, clock } = dependencies;
  await retryWhenLost(clock, async () => {
    const conversation = await readConversation(store, conversationId);
    const indexedThrough = conversation?.value.indexedThrough ?? 0;
    if (!conversation || indexedThrough === 0) return;
    const broken = await firstBrokenSegment(dependencies, conversationId, indexedThrough);
    if (broken === undefined) return;
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { indexedThrough: firstOfSegment(broken) - 1 },
        guard: { updateTime: conversation.updateTime },
      },
    ]);
  });
}

/**
 * Puts all folded turns of a conversation into the index of recall; `isBroken`: what is there is looked at first, and
 * made anew from the first part that is missing or cannot be read. May be repeated. Throws GuardLostError,
 * StoreUnavailableError, and the signal's reason.
 */
export async function indexConversation(
  dependencies: IndexDependencies,
  target: { conversationId: string; isBroken: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { conversationId, isBroken } = target;
  if (isBroken) await takeBack(dependencies, conversationId);
  const conversation = await readConversation(dependencies.store, conversationId);
  if (!conversation) return;
  const throughSeq = foldedThrough(conversation.value);
  const indexedThrough = await indexTurns(dependencies, { conversationId, throughSeq, signal });
  dependencies.logger.log('INFO', 'recall_indexed', { conversationId, indexedThrough });
}
