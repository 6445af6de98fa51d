import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { recallPath } from '#shared/conversation/documents/paths.ts';
import {
  firstTailSeq,
  isFresh,
  type ConversationCache,
  type SegmentEntry,
} from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore, Logger } from '#shared/ports/ports.ts';
import { segmentSize, lastOfSegment, segmentNumber, type Segment } from '#shared/recall/segment.ts';
import { unpackSegment } from './segment-document.ts';

/** Documents of one read; each may hold most of a MiB. */
const SEGMENTS_PER_READ = 4;
/** The newest turns of a conversation that are looked up: 50,000. */
const SEGMENTS_MAX = 50;
/** Where no instance keeps anything, bytes that are looked through all the same. */
const BYTES_WITHOUT_CACHE = 4 * 1024 * 1024;

interface IndexSource {
  store: Pick<DocumentStore, 'get'>;
  cache: ConversationCache;
  logger: Pick<Logger, 'log'>;
}

/** The index of a conversation as far as it may be looked up. */
export interface LoadedIndex {
  /** The newest turns first. */
  segments: readonly Segment[];
  /** Turns up to this one are folded, and in the index. */
  throughSeq: number;
  /** Whether the oldest turn is among them. */
  isWhole: boolean;
  /** Whether something that the conversation document says is there is missing or cannot be read. */
  isBroken: boolean;
}

/** The last turn that is folded whole: the context does not show it word for word. */
export const foldedThrough = (conversation: Pick<Conversation, 'coveredThrough'>): number =>
  firstTailSeq(conversation) - 1;

async function readSegments(
  { store, logger }: IndexSource,
  { conversationId, conversation }: { conversationId: string; conversation: Conversation },
  numbers: readonly number[],
): Promise<Map<number, SegmentEntry>> {
  const found = new Map<number, SegmentEntry>();
  const documents = await store.get(numbers.map((number) => recallPath(conversationId, number)));
  for (const [i, document] of documents.entries()) {
    if (!document) continue;
    try {
      const { segment, throughSeq } = unpackSegment(document);
      // What stands there of later turns is older than the conversation document.
      const trusted = Math.min(throughSeq, conversation.indexedThrough ?? 0);
      const sizeBytes = segmentSize(segment);
      const entry = { segment, throughSeq: trusted, loadedAt: conversation.generation, sizeBytes };
      found.set(numbers[i] ?? 0, entry);
    } catch (error) {
      logger.log('WARNING', 'recall_segment_unreadable', {
        path: document.path,
        error: error instanceof Error ? error.name : typeof error,
      });
    }
  }
  return found;
}

/**
 * The index of recall, from this instance's cache where it is as the conversation document says; else read, the newest
 * turns first, until one conversation has taken its share of the cache. No read where nothing is folded or all is
 * known. Throws StoreUnavailableError.
 */
export async function loadIndex(
  source: IndexSource,
  target: { conversationId: string; conversation: Conversation },
): Promise<LoadedIndex> {
  const { cache } = source;
  const { conversation } = target;
  const throughSeq = Math.min(conversation.indexedThrough ?? 0, foldedThrough(conversation));
  const newest = segmentNumber(throughSeq);
  const count = Math.min(SEGMENTS_MAX, newest);
  const numbers = Array.from({ length: count }, (_, i) => newest - i);
  const isWhole = (number: number, entry: SegmentEntry) =>
    entry.throughSeq >= Math.min(lastOfSegment(number), throughSeq);
  const segments: Segment[] = [];
  let isBroken = false;
  let bytesLeft = cache.segmentBytes || BYTES_WITHOUT_CACHE;
  for (let i = 0; i < numbers.length && bytesLeft > 0; i += SEGMENTS_PER_READ) {
    const asked = numbers.slice(i, i + SEGMENTS_PER_READ);
    const known = new Map<number, SegmentEntry>();
    for (const number of asked) {
      const entry = cache.segment(conversation.epoch, number);
      if (isFresh(conversation, entry) && isWhole(number, entry)) known.set(number, entry);
    }
    const missing = asked.filter((number) => !known.has(number));
    const read =
      missing.length > 0
        ? await readSegments(source, target, missing)
        : new Map<number, SegmentEntry>();
    for (const number of asked) {
      const entry = known.get(number) ?? read.get(number);
      if (!entry || !isWhole(number, entry)) isBroken = true;
      if (!entry) continue;
      // While an erasure is under way the document may still change; nothing of it may outlive that here.
      if (read.has(number) && !conversation.pendingErasure)
        cache.keepSegment(conversation.epoch, number, entry);
      segments.push(entry.segment);
      bytesLeft -= entry.sizeBytes;
    }
  }
  return { segments, throughSeq, isWhole: segments.length === newest, isBroken };
}
