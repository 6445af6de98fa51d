import { unpackSegment } from '#functions/recall/segment-document.ts';
import { pieceText } from '#shared/conversation/context/read-conversation.ts';
import {
  decodeAnyConversation,
  UnreadableConversationError,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { readHistoryDocument, type History } from '#shared/conversation/documents/history.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import {
  chunksCollection,
  compactionJobPath,
  conversationPath,
  historiesCollection,
  inboxPath,
  messageGuardsCollection,
  recallPath,
  turnPiecesCollection,
  turnsCollection,
} from '#shared/conversation/documents/paths.ts';
import {
  problemText,
  NewerDocumentError,
  SCHEMA_VERSION,
} from '#shared/conversation/documents/read-document.ts';
import {
  messageGuardSchema,
  decodeTurn,
  readTurnDocument,
  type Turn,
} from '#shared/conversation/documents/turn.ts';
import type { DocumentStore, Sha256, StoredDocument, DocumentFields } from '#shared/ports/ports.ts';
import { segmentNumber } from '#shared/recall/segment.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { lastSegment } from '#shared/store/names.ts';
import { z } from 'zod';

/** A place where an invariant does not hold. */
export interface Breach {
  /** Of the document, from the root. */
  path: string;
  /** What stands there instead: ids, numbers and names of fields, nothing of what was said. */
  is: string;
}

/** What must hold of the documents of a conversation; docs/operations.md explains I1 to I8. */
export interface Invariant<Documents extends Stored = StoredConversation> {
  group: `I${number}`;
  shouldBe: string;
  remedy: string;
  breaches: (stored: Documents) => readonly Breach[];
}

/** What several invariants are mended by. */
export const remedies = {
  fromBackup:
    'bring the document back from a backup or by point-in-time recovery; nothing here can know what it said',
  rebuild:
    '`restore ID --generation 0` puts every turn back word for word, `compact ID` folds them anew',
  restoreEarlier:
    '`restore ID --generation N` with an earlier N that verifies, or N = 0 for every turn word for word',
  bySweep:
    'the sweep mends it within five minutes; if it stays, look for `sweep_failed` in the log',
  eraseAgain: '`erase ID` erases all that is left',
} as const;

const breachesOfReading =
  (kind: Unreadable['kind']): Invariant<Stored>['breaches'] =>
  (stored) =>
    stored.unreadable
      .filter((document) => document.kind === kind && !document.isNewer)
      .map(({ path, problem }) => ({ path, is: problem }));

/** Every document can be read. Where the first two do not hold, nothing else is asked. */
export const readableInvariants = {
  'head-unreadable': {
    group: 'I1',
    shouldBe: 'a conversation document of the known shape',
    remedy: remedies.fromBackup,
    breaches: breachesOfReading('head'),
  },
  'newer-version': {
    group: 'I1',
    shouldBe: 'no document of a later release than this one',
    remedy:
      'nothing is wrong with it: deploy the release that wrote it, or a later one, and verify with that one',
    breaches: (stored) =>
      stored.unreadable
        .filter(({ isNewer }) => isNewer)
        .map(({ path, problem }) => ({ path, is: problem })),
  },
  'turn-unreadable': {
    group: 'I1',
    shouldBe: 'a turn of the known shape whose texts are contents',
    remedy: remedies.fromBackup,
    breaches: breachesOfReading('turn'),
  },
  'guard-unreadable': {
    group: 'I1',
    shouldBe: 'a guard with seq and bodyHash',
    remedy: remedies.fromBackup,
    breaches: breachesOfReading('guard'),
  },
  'history-unreadable': {
    group: 'I3',
    shouldBe: 'a history of the known shape',
    remedy: remedies.restoreEarlier,
    breaches: breachesOfReading('history'),
  },
  'job-unreadable': {
    group: 'I4',
    shouldBe: 'a job of the known shape',
    remedy: 'delete jobs/compaction: the next compaction makes a new one',
    breaches: breachesOfReading('job'),
  },
} as const satisfies Record<string, Invariant<Stored>>;

export interface StoredTurn {
  path: string;
  turn: Turn;
  /** Paths of pieces that it names and that are not there. */
  missingPieces: readonly string[];
  /** Of an erased turn: what still stands below it or of its stream. */
  below: readonly string[];
}

interface StoredGuard {
  path: string;
  messageId: string;
  seq: number;
  bodyHash: string;
}

export interface StoredHistory {
  path: string;
  history: History;
}

/** A part of the index of recall that the conversation document says is there. */
interface StoredSegment {
  path: string;
  /** From 1. */
  number: number;
  /** Undefined: it is missing, or cannot be read. */
  throughSeq: number | undefined;
  /** Turns of which it has something. */
  seqs: readonly number[];
}

interface Unreadable {
  path: string;
  kind: 'head' | 'turn' | 'guard' | 'history' | 'job';
  /** Fields, never values. */
  problem: string;
  /** A later release wrote it: nothing is wrong with it. */
  isNewer: boolean;
}

/** All documents of a conversation, as they were read. */
export interface Stored {
  conversationId: string;
  now: Date;
  /** Undefined: there is none, or it cannot be read. */
  conversation: Conversation | undefined;
  /** Of the conversation document, whether it can be read or not. */
  fields: DocumentFields;
  job: CompactionJob | undefined;
  /** The fields of the entry in the owner's inbox. */
  inbox: DocumentFields | undefined;
  turns: readonly StoredTurn[];
  guards: readonly StoredGuard[];
  histories: readonly StoredHistory[];
  index: readonly StoredSegment[];
  unreadable: readonly Unreadable[];
  /** Paths of what is left below a conversation document that is erased or not there, the first few. */
  remains: readonly string[];
}

/** The same of a conversation whose document can be read. */
export type StoredConversation = Stored & { conversation: Conversation };

/** Documents of one read: turns and histories may each have a MiB. */
const TURNS_PER_PAGE = 25;
const HISTORIES_PER_PAGE = 10;
const GUARDS_PER_PAGE = 300;
/** What is told of what is left below an erased turn, and below a conversation that is not there. */
const BELOW_MAX = 5;
const REMAINS_MAX = 10;

/** What a conversation may have below its document, but for what stands below turns and streams. */
const COLLECTIONS = [
  'turns',
  'messages',
  'histories',
  'jobs',
  'ratings',
  'public',
  'recall',
] as const;

type ReadStore = Pick<DocumentStore, 'get' | 'query'>;

/** What documents are read with. */
export interface Reading {
  store: ReadStore;
  sha256: Sha256;
  /** Names of all collections below a document, where the database can tell; default: the known ones. */
  collectionsBelow?: ((path: string) => Promise<readonly string[]>) | undefined;
  now: () => Date;
}

/** A document of which something cannot be read: the service goes on without it, an operator is to know. */
class PartlyUnreadableError extends Error {}

/** Throws PartlyUnreadableError where something of what was read is amiss. */
function refuseProblems(problems: ReadonlyMap<string, string> | undefined): void {
  if (problems && problems.size > 0) throw new PartlyUnreadableError(problemText(problems));
}

/** Names the fields that are wrong and never their values. Throws what is no matter of what the document says. */
function problemOf(error: unknown): string {
  if (error instanceof NewerDocumentError)
    return `schemaVersion is ${error.schemaVersion}, this release reads up to ${SCHEMA_VERSION}`;
  if (error instanceof PartlyUnreadableError || error instanceof UnreadableConversationError)
    return error.message;
  if (error instanceof z.ZodError)
    return error.issues.map(({ path, code }) => `${path.join('.')} (${code})`).join(', ');
  if (error instanceof SyntaxError) return 'its JSON cannot be read';
  throw error;
}

/** Reads documents of one kind, and notes those that cannot be read. */
async function readable<T>(
  documents: Iterable<StoredDocument> | AsyncIterable<StoredDocument>,
  kind: Unreadable['kind'],
  read: (document: StoredDocument) => T | Promise<T>,
): Promise<{ values: T[]; unreadable: Unreadable[] }> {
  const values: T[] = [];
  const unreadable: Unreadable[] = [];
  for await (const document of documents)
    try {
      values.push(await read(document));
    } catch (error) {
      const isNewer = error instanceof NewerDocumentError;
      unreadable.push({ path: document.path, kind, problem: problemOf(error), isNewer });
    }
  return { values, unreadable };
}

async function* allIn(store: ReadStore, collection: string, limit: number) {
  for await (const page of readPages(store, { collection, limit })) yield* page;
}

/** Paths of the first few documents of some collections. */
async function firstOf(store: ReadStore, collections: readonly string[], limit: number) {
  const found = await Promise.all(
    collections.map((collection) => store.query({ collection, limit })),
  );
  return found.flat().map(({ path }) => path);
}

async function readTurn(
  store: ReadStore,
  conversationId: string,
  document: StoredDocument,
): Promise<StoredTurn> {
  const { path } = document;
  const read = readTurnDocument(conversationId, document);
  refuseProblems(read.problems);
  const pieces = read.piecePaths.length > 0 ? await store.get(read.piecePaths) : [];
  const missingPieces = read.piecePaths.filter((_, index) => pieces[index] === undefined);
  const turn = decodeTurn(read, pieces.map(pieceText)).value;
  // Without all its pieces nobody can read its texts, and that is told of the pieces.
  if (turn.unreadable !== undefined && missingPieces.length === 0)
    throw new PartlyUnreadableError(turn.unreadable);
  const { inContext } = read.value;
  const isEmptied = turn.eraseTime !== undefined && turn.user.parts.length === 0;
  const collections = [
    turnPiecesCollection(conversationId, turn.seq),
    chunksCollection(conversationId, turn.seq),
  ];
  // An answer alone was erased where the question stays, with pieces of its own.
  const below = isEmptied ? await firstOf(store, collections, BELOW_MAX) : [];
  return { path, turn: { ...turn, inContext }, missingPieces, below };
}

function readGuard({ path, fields }: StoredDocument): StoredGuard {
  return { path, messageId: lastSegment(path), ...messageGuardSchema.parse(fields) };
}

function readStored(document: StoredDocument): StoredHistory {
  const { history, problems } = readHistoryDocument(document);
  refuseProblems(problems);
  return { path: document.path, history };
}

/** The parts of the index of recall that the conversation document says are there, one read each. */
async function readIndex(
  store: ReadStore,
  conversationId: string,
  indexedThrough: number,
): Promise<StoredSegment[]> {
  const segments: StoredSegment[] = [];
  for (let number = 1; number <= segmentNumber(indexedThrough); number += 1) {
    const path = recallPath(conversationId, number);
    const [document] = await store.get([path]);
    try {
      const read = document && unpackSegment(document);
      const seqs = [...new Set(read?.segment.passages.map(({ seq }) => seq))];
      segments.push({ path, number, throughSeq: read?.throughSeq, seqs });
    } catch {
      segments.push({ path, number, throughSeq: undefined, seqs: [] });
    }
  }
  return segments;
}

/** The first few documents below a conversation document that is erased or not there. */
async function readRemains({ store, collectionsBelow }: Reading, conversationId: string) {
  const path = conversationPath(conversationId);
  const remains: string[] = [];
  for (const name of (await collectionsBelow?.(path)) ?? COLLECTIONS) {
    const collection = `${path}/${name}`;
    const found = await firstOf(store, [collection], REMAINS_MAX);
    // Chunks stand below documents that are none.
    if (found.length === 0 && collectionsBelow) found.push(`${collection} (what stands below it)`);
    remains.push(...found);
  }
  return remains.slice(0, REMAINS_MAX);
}

/** A conversation with all its documents, each read once. Throws StoreUnavailableError. */
export async function loadConversation(reading: Reading, conversationId: string): Promise<Stored> {
  const { store } = reading;
  const [document, jobDocument] = await store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  const heads = await readable(document ? [document] : [], 'head', (head) => {
    const { value, problems } = decodeAnyConversation(head);
    refuseProblems(problems);
    return value;
  });
  const [conversation] = heads.values;
  const nothing: Stored = {
    conversationId,
    now: reading.now(),
    conversation,
    fields: document?.fields ?? {},
    job: undefined,
    inbox: undefined,
    turns: [],
    guards: [],
    histories: [],
    index: [],
    unreadable: heads.unreadable,
    remains: [],
  };
  if (heads.unreadable.length > 0) return nothing;
  if (!conversation || conversation.state === 'erased')
    return { ...nothing, remains: await readRemains(reading, conversationId) };
  const [jobs, turns, guards, histories, index, [inbox]] = await Promise.all([
    readable(jobDocument ? [jobDocument] : [], 'job', (job) => {
      const { value, problems } = decodeJob(job);
      refuseProblems(problems);
      return value;
    }),
    readable(allIn(store, turnsCollection(conversationId), TURNS_PER_PAGE), 'turn', (turn) =>
      readTurn(store, conversationId, turn),
    ),
    readable(
      allIn(store, messageGuardsCollection(conversationId), GUARDS_PER_PAGE),
      'guard',
      readGuard,
    ),
    readable(
      allIn(store, historiesCollection(conversationId), HISTORIES_PER_PAGE),
      'history',
      readStored,
    ),
    readIndex(store, conversationId, conversation.indexedThrough ?? 0),
    store.get([inboxPath(conversation.ownerUid, conversationId)]),
  ]);
  return {
    ...nothing,
    job: jobs.values[0],
    inbox: inbox?.fields,
    turns: turns.values,
    guards: guards.values,
    histories: histories.values,
    index,
    unreadable: [jobs, turns, guards, histories].flatMap(({ unreadable }) => unreadable),
  };
}
