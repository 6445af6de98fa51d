import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { unfinishedTurnError } from '../erase/find-message.ts';
import { namedBy, namingWrites } from '#functions/chat/features/uploads.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { pieceText } from '#shared/conversation/context/read-conversation.ts';
import { encodeHistory, type History } from '#shared/conversation/documents/history.ts';
import {
  historiesCollection,
  messageGuardsCollection,
  turnsCollection,
  conversationPath,
  historyPath,
  messageGuardPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import {
  readTurnDocument,
  decodeTurn,
  isTerminal,
  type TurnDocument,
} from '#shared/conversation/documents/turn.ts';
import { isInContextThrough, replacedWithin } from '#shared/conversation/writes/replacement.ts';
import type { StoredDocument, DocumentFields, Write } from '#shared/ports/ports.ts';
import { BATCH_WRITES, inBatches } from '#shared/store/many-documents.ts';
import type { ForkTarget, ForkSource } from './fork-target.ts';

/** Documents of one read and one batch; each may have a MiB, and a turn a few pieces beside it. */
const DOCUMENTS_PER_PAGE = 10;

/** Deletes what a collection holds, page by page; `pathsOf` says what goes with a document. */
async function clearCollection(
  dependencies: ChatDependencies,
  { target, collection }: { target: ForkTarget; collection: string },
  pathsOf: (document: StoredDocument) => string[],
): Promise<void> {
  for (;;) {
    const page = await dependencies.store.query({ collection, limit: DOCUMENTS_PER_PAGE });
    if (page.length === 0) return;
    const deletes = page
      .flatMap((document) => pathsOf(document))
      .map((path) => ({ op: 'delete', path }) as const);
    await target.commit({ build: () => Promise.resolve(deletes) });
  }
}

/**
 * Deletes what an earlier try has left below the document of a fork. Every batch is committed under the conversation
 * document, so a maker that stood still while another took over deletes nothing of what that one made. Throws
 * FORK_TAKEN_OVER, StoreUnavailableError.
 */
export async function clearFork(dependencies: ChatDependencies, target: ForkTarget): Promise<void> {
  const { conversationId } = target;
  const turns = { target, collection: turnsCollection(conversationId) };
  await clearCollection(dependencies, turns, (document) => [
    document.path,
    ...readTurnDocument(conversationId, document).piecePaths,
  ]);
  for (const collection of [
    messageGuardsCollection(conversationId),
    historiesCollection(conversationId),
  ])
    await clearCollection(dependencies, { target, collection }, ({ path }) => [path]);
}

/** Turns of one read; each may come with pieces of a MiB. */
const TURNS_PER_READ = 10;

/** The source changed while it was copied: what stands in the fork may be of two states. */
export class SourceChangedError extends Error {
  constructor(conversationId: string) {
    super(`${conversationId} changed while it was copied`);
    this.name = 'SourceChangedError';
  }
}

/** A turn in the context of the fork, and what the meter is made of: its tokens. */
export interface CopiedTurn {
  seq: number;
  tokens: number;
  /** In the source later turns have taken its place; here it is in the context again. */
  isRevived: boolean;
}

interface Copy {
  source: ForkSource;
  target: ForkTarget;
}

type Creation = Extract<Write, { op: 'create' }>;

/** Commits creations in the order in which they come, as many at once as a commit takes. */
async function createAll(
  dependencies: ChatDependencies,
  target: ForkTarget,
  creations: AsyncIterable<{ writes: [Creation] }>,
): Promise<void> {
  for await (const { groups } of inBatches(creations)) {
    const writes = groups.flatMap((group) => group.writes);
    if (writes.length === 0) continue;
    await target.commit({ build: () => Promise.resolve(writes) });
    await passCrashPoint(dependencies, 'fork-batch-copied');
  }
}

const moved = (path: string, { source, target }: Copy) =>
  `${conversationPath(target.conversationId)}${path.slice(conversationPath(source.conversationId).length)}`;

/** A document of the source as the fork has it. */
const created = (
  copy: Copy,
  { path, fields }: Pick<StoredDocument, 'path' | 'fields'>,
): { writes: [Creation] } => ({ writes: [{ op: 'create', path: moved(path, copy), fields }] });

/** A turn's fields as they are in the fork, without what only its own producers and streams need. */
function turnFields(
  { fields }: StoredDocument,
  { value }: TurnDocument,
  lastSeq: number,
): DocumentFields {
  const { cancelRequested: _cancelRequested, ...kept } = fields;
  return {
    ...kept,
    producer: '',
    inContext: isInContextThrough(value, lastSeq),
    ...(value.replacedBy && { replacedBy: replacedWithin(value, lastSeq) }),
  };
}

async function readAll(
  { store }: ChatDependencies,
  { source }: Copy,
  paths: readonly string[],
): Promise<StoredDocument[]> {
  if (paths.length === 0) return [];
  const documents = await store.get(paths);
  return documents.map((document) => {
    if (!document) throw new SourceChangedError(source.conversationId);
    return document;
  });
}

/** Notes at the uploads of copied turns that the fork names them as well: they outlive the source. */
async function nameForFork(
  dependencies: ChatDependencies,
  target: ForkTarget,
  named: ReturnType<typeof namedBy>,
): Promise<void> {
  for (let first = 0; first < named.length; first += BATCH_WRITES)
    await target.commit({
      build: () => namingWrites(dependencies, named.slice(first, first + BATCH_WRITES)),
    });
}

/**
 * Copies the turns up to the fork's, newest first, each with its pieces and the guard of its message. A
 * turn that only later ones replaced is in the context of the fork. Throws SourceChangedError,
 * TURN_IN_PROGRESS.
 */
export async function copyTurns(dependencies: ChatDependencies, copy: Copy): Promise<CopiedTurn[]> {
  const { conversationId, seq: lastSeq } = copy.source;
  const copied: CopiedTurn[] = [];
  const named: ReturnType<typeof namedBy> = [];
  async function* creations(): AsyncGenerator<{ writes: [Creation] }> {
    for (let newest = lastSeq; newest > 0; newest -= TURNS_PER_READ) {
      const length = Math.min(TURNS_PER_READ, newest);
      const paths = Array.from({ length }, (_, i) => turnPath(conversationId, newest - i));
      const documents = await readAll(dependencies, copy, paths);
      const turns = documents.map((document) => readTurnDocument(conversationId, document));
      const guardPaths = turns.map(({ value }) =>
        messageGuardPath(conversationId, value.messageId),
      );
      const guards = await readAll(dependencies, copy, guardPaths);
      for (const [index, turn] of turns.entries()) {
        const { seq, state, tokens, inContext } = turn.value;
        if (!isTerminal(state)) throw unfinishedTurnError(seq);
        if (isInContextThrough(turn.value, lastSeq))
          copied.push({ seq, tokens: tokens.user + tokens.answer, isRevived: !inContext });
        const [document, guard] = [documents[index], guards[index]];
        if (!document || !guard) throw new SourceChangedError(conversationId);
        yield created(copy, { ...document, fields: turnFields(document, turn, lastSeq) });
        const pieces = await readAll(dependencies, copy, turn.piecePaths);
        for (const each of [guard, ...pieces]) yield created(copy, each);
        const { user } = decodeTurn(turn, pieces.map(pieceText)).value;
        const { ownerUid } = copy.source.conversation;
        named.push(...namedBy(ownerUid, { conversationId: copy.target.conversationId, seq, user }));
      }
    }
  }
  await createAll(dependencies, copy.target, creations());
  await nameForFork(dependencies, copy.target, named);
  return copied;
}

/** Writes the fork's history. */
export async function copyHistory(
  dependencies: ChatDependencies,
  copy: Copy,
  history: History,
): Promise<void> {
  const { target } = copy;
  const path = historyPath(target.conversationId, history.generation);
  const write: Creation = { op: 'create', path, fields: encodeHistory(history) };
  await target.commit({ build: () => Promise.resolve([write]) });
  await passCrashPoint(dependencies, 'fork-batch-copied');
}
