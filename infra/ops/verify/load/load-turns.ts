import { z } from 'zod';
import {
  turnsCollection,
  chunksCollection,
  turnPiecesCollection,
} from '#shared/conversation/documents/paths.ts';
import { pieceText } from '#shared/conversation/context/read-conversation.ts';
import { problemText } from '#shared/conversation/documents/read-fields.ts';
import { UnreadableConversationError } from '#shared/conversation/documents/unreadable-conversation.ts';
import {
  NewerDocumentError,
  SCHEMA_VERSION,
} from '#shared/conversation/documents/schema-version.ts';
import { decodeStoredTurn, readTurnDocument } from '#shared/conversation/documents/turn.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { readPages, type ReadStore } from '#infra/ops/pages.ts';
import type { StoredTurn, Unreadable } from './loaded.ts';

/** Each may have a MiB. */
const TURNS_PER_PAGE = 25;

/** What is told of what is left below an erased turn. */
const LEFT_MAX = 5;

/** A document of which something cannot be read: the service goes on without it, an operator is to know. */
class PartlyUnreadableError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'PartlyUnreadableError';
  }
}

/** Throws PartlyUnreadableError where something of what was read is amiss. */
export function refuseProblems(problems: ReadonlyMap<string, string> | undefined): void {
  if (problems && problems.size > 0) throw new PartlyUnreadableError(problemText(problems));
}

/** Names the fields that are wrong and never their values. */
function problemOf(error: unknown): string {
  if (error instanceof NewerDocumentError)
    return `schemaVersion is ${error.schemaVersion}, this release reads up to ${SCHEMA_VERSION}`;
  if (error instanceof PartlyUnreadableError) return error.message;
  if (!(error instanceof z.ZodError)) return 'its JSON cannot be read';
  return error.issues.map(({ path, code }) => `${path.join('.')} (${code})`).join(', ');
}

/** Whether a document says what nobody here can read; anything else went wrong with the reading. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof PartlyUnreadableError ||
  error instanceof UnreadableConversationError ||
  error instanceof z.ZodError ||
  error instanceof SyntaxError ||
  error instanceof NewerDocumentError;

export const toUnreadable = (
  path: string,
  unreadable: Unreadable['of'],
  error: unknown,
): Unreadable => ({
  path,
  of: unreadable,
  problem: problemOf(error),
  isNewer: error instanceof NewerDocumentError,
});

async function leftBelow(store: ReadStore, conversationId: string, seq: number): Promise<string[]> {
  const collections = [
    turnPiecesCollection(conversationId, seq),
    chunksCollection(conversationId, seq),
  ];
  const found = await Promise.all(
    collections.map((collection) => store.query({ collection, limit: LEFT_MAX })),
  );
  return found.flat().map(({ path }) => path);
}

async function loadTurn(
  store: ReadStore,
  conversationId: string,
  document: StoredDocument,
): Promise<StoredTurn> {
  const read = readTurnDocument(conversationId, document);
  refuseProblems(read.problems);
  const { userJson: _user, answerJson: _answer, ...rest } = read.value;
  const { userPieces: _u, answerPieces: _a, answerName: _n, ...fields } = rest;
  const pieces = read.piecePaths.length > 0 ? await store.get(read.piecePaths) : [];
  const missingPieces = read.piecePaths.filter((_, index) => pieces[index] === undefined);
  const { path } = document;
  // Without all its pieces its texts cannot be read.
  if (missingPieces.length > 0)
    return { path, fields, hasQuestion: true, hasAnswer: true, missingPieces, below: [] };
  const { user, contents, unreadable } = decodeStoredTurn(read, pieces.map(pieceText)).value;
  if (unreadable !== undefined) throw new PartlyUnreadableError(unreadable);
  const isEmptied = fields.eraseTime !== undefined && user.parts.length === 0;
  return {
    path,
    fields,
    hasQuestion: user.parts.length > 0,
    hasAnswer: contents.length > 0,
    missingPieces,
    // An answer alone was erased where the question stays, with pieces of its own.
    below: isEmptied ? await leftBelow(store, conversationId, fields.seq) : [],
  };
}

/** Every turn document that is there, page by page, without what was said. */
export async function loadTurns(
  store: ReadStore,
  conversationId: string,
): Promise<{ turns: StoredTurn[]; unreadable: Unreadable[] }> {
  const turns: StoredTurn[] = [];
  const unreadable: Unreadable[] = [];
  const query = { collection: turnsCollection(conversationId), limit: TURNS_PER_PAGE };
  for await (const page of readPages(store, query))
    for (const document of page)
      try {
        turns.push(await loadTurn(store, conversationId, document));
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        unreadable.push(toUnreadable(document.path, 'turn', error));
      }
  return { turns, unreadable };
}
