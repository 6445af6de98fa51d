import type { ConversationCache } from '#shared/conversation/context/read-conversation.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import type { Segment } from './segment.ts';

export interface SegmentEntry {
  segment: Segment;
  throughSeq: number;
  loadedAt: number;
  /** About what it takes in memory. */
  sizeBytes: number;
}

/** The same for what is searched. */
export interface SearchCache extends ConversationCache {
  /** What can be searched of a turn: far more turns of it fit than of whole ones. */
  texts(epoch: string, seq: number): { texts: TurnTexts; loadedAt: number } | undefined;
  keepTexts(epoch: string, entry: { texts: TurnTexts; loadedAt: number }): void;
  /** A part of the index of recall, with the turns up to `throughSeq` of those that it is for. */
  segment(epoch: string, number: number): SegmentEntry | undefined;
  keepSegment(epoch: string, number: number, entry: SegmentEntry): void;
  /** Bytes that the index of one conversation may take; 0: none is kept. */
  readonly segmentBytes: number;
}

/** A cache that keeps nothing. */
export const noCache: SearchCache = {
  turn: () => undefined,
  keepTurn: () => undefined,
  history: () => undefined,
  keepHistory: () => undefined,
  texts: () => undefined,
  keepTexts: () => undefined,
  segment: () => undefined,
  keepSegment: () => undefined,
  segmentBytes: 0,
  job: () => undefined,
  keepJob: () => undefined,
};
