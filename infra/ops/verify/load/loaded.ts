import type { ContextItem } from '#shared/conversation/context/assemble-context.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import {
  conversationPath,
  historyPath,
  messageGuardPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/*
 * A conversation as the checks see it: every document, without the texts of what is not in the context, so that
 * one of thousands of turns takes a few megabytes.
 */

/** A turn without what was said. */
export interface StoredTurn {
  path: string;
  fields: Omit<Turn, 'user' | 'contents'>;
  /** Whether something stands in its question, in its answer. */
  hasQuestion: boolean;
  hasAnswer: boolean;
  /** Paths of pieces that it names and that are not there. */
  missingPieces: readonly string[];
  /** Of an erased turn: what still stands below it or of its stream. */
  below: readonly string[];
}

export interface StoredGuard {
  path: string;
  messageId: string;
  seq: number;
  bodyHash: string;
}

/** A history without what it says. */
export interface StoredHistory {
  path: string;
  fields: Omit<History, 'snapshot' | 'snapshotText' | 'masks' | 'report'>;
  hasSnapshot: boolean;
  /** Turns that its statements cite, each once. */
  citedSeqs: readonly number[];
  /** Names of blobs that its masks tell of and that are missing or say something else. */
  brokenBlobs: readonly string[];
  /** Undefined: it needs none, or nobody here has the keys. */
  isSigned: boolean | undefined;
}

/** What the context is made of, and what came of it. */
export interface LoadedContext {
  history: History | undefined;
  /** The ended turns that may stand verbatim. */
  turns: readonly Turn[];
  /** As the one assembler makes it of the documents. */
  items: readonly ContextItem[];
  /** What the next call sends: `items`, or over the hard threshold the shrunken view of them. */
  expected: readonly ShownItem[];
  /** What `/context` shows; undefined: nobody was asked. */
  shown: { generation: number; items: readonly ShownItem[] } | undefined;
}

export interface ShownItem {
  kind: string;
  seq?: number | undefined;
  content: unknown;
}

export interface Unreadable {
  path: string;
  of: 'head' | 'turn' | 'guard' | 'history' | 'job';
  /** Fields, never values. */
  problem: string;
  /** A later release wrote it: nothing is wrong with it. */
  isNewer: boolean;
}

export interface StoredSegmentTurns {
  path: string;
  /** From 1. */
  number: number;
  /** Undefined: it is missing, or cannot be read. */
  throughSeq: number | undefined;
  /** Turns of which it has something. */
  seqs: readonly number[];
}

export interface Loaded {
  conversationId: string;
  now: Date;
  /** Undefined: there is none, or it cannot be read. */
  conversation: Conversation | undefined;
  /** Names of the fields that the conversation document document has. */
  conversationFields: readonly string[];
  job: CompactionJob | undefined;
  turns: readonly StoredTurn[];
  guards: readonly StoredGuard[];
  histories: readonly StoredHistory[];
  unreadable: readonly Unreadable[];
  /** The parts of the index of recall that the conversation document says are there. */
  index: readonly StoredSegmentTurns[];
  /** Of a live conversation whose documents could be read. */
  context: LoadedContext | undefined;
  /** Below a conversation document that is erased or not there: paths of what is left, the first few. */
  remains: readonly string[];
}

/** A turn that is in memory as a whole, for the checks. */
export function toStoredTurn(conversationId: string, turn: Turn): StoredTurn {
  const { user, contents, ...fields } = turn;
  return {
    path: turnPath(conversationId, turn.seq),
    fields,
    hasQuestion: user.parts.length > 0,
    hasAnswer: contents.length > 0,
    missingPieces: [],
    below: [],
  };
}

/** Turns that the statements of a history cite. */
function collectCitedSeqs({ snapshot }: Pick<History, 'snapshot'>): number[] {
  if (!snapshot) return [];
  const items = [...Object.values(snapshot.sections).flat(), ...snapshot.archive];
  return [...new Set(items.flatMap(({ sources }) => sources))].toSorted((a, b) => a - b);
}

/** A history that is in memory as a whole and whose signature nobody asks for. */
export function toStoredHistory(conversationId: string, history: History): StoredHistory {
  const { snapshot, snapshotText, masks: _masks, report: _report, ...fields } = history;
  return {
    path: historyPath(conversationId, history.generation),
    fields,
    hasSnapshot: snapshotText !== '',
    citedSeqs: collectCitedSeqs({ snapshot }),
    brokenBlobs: [],
    isSigned: undefined,
  };
}

/** What the guards of a conversation say, by message id. */
export const toStoredGuards = (
  conversationId: string,
  messages: ReadonlyMap<string, number>,
): StoredGuard[] =>
  [...messages].map(([messageId, seq]) => ({
    path: messageGuardPath(conversationId, messageId),
    messageId,
    seq,
    bodyHash: 'not read',
  }));

export const conversationOfPath = ({ conversationId }: Pick<Loaded, 'conversationId'>): string =>
  conversationPath(conversationId);
