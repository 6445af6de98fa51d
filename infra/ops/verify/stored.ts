import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';

export interface StoredTurn {
  path: string;
  turn: Turn;
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

export interface StoredHistory {
  path: string;
  history: History;
  /** Names of blobs that its masks tell of and that are missing or say something else. */
  brokenBlobs: readonly string[];
}

/** A part of the index of recall that the conversation document says is there. */
export interface StoredSegment {
  path: string;
  /** From 1. */
  number: number;
  /** Undefined: it is missing, or cannot be read. */
  throughSeq: number | undefined;
  /** Turns of which it has something. */
  seqs: readonly number[];
}

export interface Unreadable {
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
