import {
  decodeAnyConversation,
  decodeConversation,
  type Conversation,
  type Versioned,
} from '../documents/conversation.ts';
import { type History, readStoredHistory } from '../documents/history.ts';
import type { KnownJob } from '../documents/job.ts';
import {
  decodeStoredTurn,
  decodeTurn,
  isFinal,
  isTerminal,
  readTurnDocument,
  type Turn,
  type TurnDocument,
} from '../documents/turn.ts';
import { cleanHistory } from '../writes/erased-history.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentStore, Logger, StoredDocument } from '#shared/ports/ports.ts';
import { conversationPath, historyPath, turnPath } from '../documents/paths.ts';

/** How many documents one read asks for. */
const READ_PAGE = 300;

/** Finished turns and histories never change but by a new generation, so an instance may keep them. */
export interface ConversationCache {
  turn(epoch: string, seq: number): { turn: Turn; loadedAt: number } | undefined;
  keepTurn(epoch: string, entry: { turn: Turn; loadedAt: number }): void;
  history(epoch: string, generation: number): { history: History; loadedAt: number } | undefined;
  keepHistory(epoch: string, entry: { history: History; loadedAt: number }): void;
  /** What the job of a conversation tells of the past; see `KnownJob`. */
  job(conversationId: string): KnownJob | undefined;
  keepJob(conversationId: string, known: KnownJob): void;
}

/** What histories are read with. */
export interface HistorySource {
  store: Pick<DocumentStore, 'get'>;
  cache: ConversationCache;
  logger: Pick<Logger, 'log'>;
}

export async function readConversation(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
): Promise<Versioned<Conversation> | undefined> {
  const [document] = await store.get([conversationPath(conversationId)]);
  return document && decodeConversation(document);
}

/** The conversation for an erasure, which takes also one that cannot be read. */
export async function readAnyConversation(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
): Promise<Versioned<Conversation> | undefined> {
  const [document] = await store.get([conversationPath(conversationId)]);
  return document && decodeAnyConversation(document);
}

async function getInPages(
  store: Pick<DocumentStore, 'get'>,
  paths: readonly string[],
): Promise<(StoredDocument | undefined)[]> {
  const found: (StoredDocument | undefined)[] = [];
  for (let i = 0; i < paths.length; i += READ_PAGE)
    found.push(...(await store.get(paths.slice(i, i + READ_PAGE))));
  return found;
}

/** Turn documents by seq, without overflow pieces, in the order asked for. No read when none is. */
export async function readTurnDocuments(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  seqs: readonly number[],
): Promise<(TurnDocument | undefined)[]> {
  const paths = seqs.map((seq) => turnPath(conversationId, seq));
  const documents = await getInPages(store, paths);
  return documents.map((document) => document && readTurnDocument(conversationId, document));
}

/** The text of an overflow piece; '' where it is gone. */
export const pieceText = (piece: StoredDocument | undefined) => {
  const text = piece?.fields['text'];
  return typeof text === 'string' ? text : '';
};

/** Tries at a turn that is emptied, or begun anew, between the reads of its document and of its pieces. */
const PIECES_TRIES = 3;

/** Turns by seq with their overflow pieces, in the order asked for; missing ones are left out. */
export async function readTurns(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  seqs: readonly number[],
): Promise<Versioned<Turn>[]> {
  for (let tries = 1; ; tries++) {
    const documents = await readTurnDocuments(store, conversationId, seqs);
    const turns = documents.filter((document) => document !== undefined);
    const piecePaths = turns.flatMap((turn) => turn.piecePaths);
    const pieces = await getInPages(store, piecePaths);
    if (tries < PIECES_TRIES && pieces.includes(undefined)) continue;
    const texts = pieces.map(pieceText);
    let next = 0;
    return turns.map((turn) =>
      decodeTurn(turn, texts.slice(next, (next += turn.piecePaths.length))),
    );
  }
}

/** A turn with its overflow pieces as it is stored: calls without a response are open in an ended turn, too. */
export async function readStoredTurn(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  document: TurnDocument,
): Promise<Versioned<Turn>> {
  const pieces = await getInPages(store, document.piecePaths);
  if (pieces.includes(undefined))
    throw new StoreUnavailableError({
      operation: `pieces of turn ${document.value.seq} of ${conversationId}`,
    });
  return decodeStoredTurn(document, pieces.map(pieceText));
}

/** Whether what a cache gave is as it was loaded: no finished turn has changed since. */
export const isFresh = <Entry extends { loadedAt: number }>(
  conversation: Pick<Conversation, 'changedIn'>,
  entry: Entry | undefined,
): entry is Entry => entry !== undefined && entry.loadedAt >= conversation.changedIn;

interface TurnRange {
  conversationId: string;
  conversation: Conversation;
  fromSeq: number;
  toSeq: number;
}

/** The turns of a range through the cache; only turns that will not change are kept. */
export async function readTurnRange(
  source: { store: Pick<DocumentStore, 'get'>; cache: ConversationCache },
  { conversationId, conversation, fromSeq, toSeq }: TurnRange,
): Promise<Turn[]> {
  const seqs = Array.from({ length: Math.max(0, toSeq - fromSeq + 1) }, (_, i) => fromSeq + i);
  const cached = new Map<number, Turn>();
  for (const seq of seqs) {
    const entry = source.cache.turn(conversation.epoch, seq);
    if (entry && isFresh(conversation, entry)) cached.set(seq, entry.turn);
  }
  const missing = seqs.filter((seq) => !cached.has(seq));
  for (const { value: turn } of await readTurns(source.store, conversationId, missing)) {
    cached.set(turn.seq, turn);
    // One that cannot be read may be mended any time.
    if (isFinal(turn) && turn.unreadable === undefined)
      source.cache.keepTurn(conversation.epoch, { turn, loadedAt: conversation.generation });
  }
  return seqs.flatMap((seq) => cached.get(seq) ?? []);
}

/**
 * The history document of a generation, or undefined for generation 0 and for one that is missing. One
 * that cannot be read says nothing (`isUnreadable`) and is not kept: it may be mended any time.
 */
export async function readHistory(
  source: HistorySource,
  {
    conversationId,
    conversation,
    generation,
  }: { conversationId: string; conversation: Conversation; generation: number },
): Promise<History | undefined> {
  if (generation === 0) return undefined;
  const cached = source.cache.history(conversation.epoch, generation);
  if (cached && isFresh(conversation, cached)) return cached.history;
  const [document] = await source.store.get([historyPath(conversationId, generation)]);
  if (!document) return undefined;
  const stored = readStoredHistory(source, conversationId, document);
  const history = cleanHistory(conversation, stored);
  // While an erasure is under way the document may still change; nothing of it may outlive that here.
  if (!conversation.pendingErasure && !history.isUnreadable)
    source.cache.keepHistory(conversation.epoch, { history, loadedAt: conversation.generation });
  return history;
}

/** First turn that may still stand verbatim in the context. */
export const firstTailSeq = ({ coveredThrough }: Pick<Conversation, 'coveredThrough'>) =>
  coveredThrough.contentIndex > 0 ? coveredThrough.seq : coveredThrough.seq + 1;

/**
 * History and terminal turns that the context of `conversation` is made of, up to `toSeq` (default: all), and the open turn. A
 * turn that cannot be read is told in the log, and is in no context.
 */
export async function readContextParts(
  source: HistorySource,
  target: { conversationId: string; conversation: Conversation; toSeq?: number },
): Promise<{ history: History | undefined; turns: Turn[]; open?: Turn }> {
  const { conversationId, conversation, toSeq = conversation.lastSeq } = target;
  const [history, turns] = await Promise.all([
    readHistory(source, { conversationId, conversation, generation: conversation.generation }),
    readTurnRange(source, {
      conversationId,
      conversation,
      fromSeq: firstTailSeq(conversation),
      toSeq,
    }),
  ]);
  for (const { seq, unreadable: problem } of turns)
    if (problem !== undefined)
      source.logger.log('ERROR', 'turn_unreadable', { conversationId, seq, problem });
  const open = turns.find(({ state }) => state === 'running' || state === 'awaiting_tool');
  return { history, turns: turns.filter(({ state }) => isTerminal(state)), ...(open && { open }) };
}
