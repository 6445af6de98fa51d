import type { SearchCache, SegmentEntry } from '#shared/recall/search-cache.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { recallPath } from '#shared/conversation/documents/paths.ts';
import { firstTailSeq, isFresh } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore, Logger } from '#shared/ports/ports.ts';
import { segmentSize, lastOfSegment, segmentNumber, type Segment } from '#shared/recall/segment.ts';
import { readSegment } from './segment-document.ts';

/** Documents of one read; each may hold most of a MiB. */
const SEGMENTS_PER_READ = 4;
/** The newest turns of a conversation that are looked up: 50,000. */
const SEGMENTS_MAX = 50;
/** Where no instance keeps anything, bytes that are looked through all the same. */
const BYTES_WITHOUT_CACHE = 4 * 1024 * 1024;

interface IndexSource {
  store: Pick<DocumentStore, 'get'>;
  cache: SearchCache;
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

type IsWhole = (number: number, entry: SegmentEntry) => boolean;

/** Parts of the index by number: from the cache where they are whole there, else read; none for what cannot be read. */
async function loadSegments(
  { store, cache, logger }: IndexSource,
  { conversationId, conversation }: { conversationId: string; conversation: Conversation },
  { numbers, isWhole }: { numbers: readonly number[]; isWhole: IsWhole },
): Promise<Map<number, SegmentEntry>> {
  const entries = new Map<number, SegmentEntry>();
  for (const number of numbers) {
    const entry = cache.segment(conversation.epoch, number);
    if (isFresh(conversation, entry) && isWhole(number, entry)) entries.set(number, entry);
  }
  const missing = numbers.filter((number) => !entries.has(number));
  if (missing.length === 0) return entries;
  const documents = await store.get(missing.map((number) => recallPath(conversationId, number)));
  for (const [i, number] of missing.entries()) {
    const document = documents[i];
    const stored = document && readSegment(logger, document);
    if (!stored) continue;
    const entry = {
      segment: stored.segment,
      // What stands there of later turns is older than the conversation document.
      throughSeq: Math.min(stored.throughSeq, conversation.indexedThrough ?? 0),
      loadedAt: conversation.generation,
      sizeBytes: segmentSize(stored.segment),
    };
    entries.set(number, entry);
    // While an erasure is under way the document may still change; nothing of it may outlive that here.
    if (!conversation.pendingErasure) cache.keepSegment(conversation.epoch, number, entry);
  }
  return entries;
}

/**
 * The index of recall, from this instance's cache where it is as the conversation document says; else read, the newest
 * turns first, until one conversation has taken its share of the cache. No read where nothing is folded or all is
 * known. Throws StoreUnavailableError.
 */
export async function loadIndex(
  source: IndexSource,
  target: { conversationId: string; conversation: Conversation; segmentsMax?: number },
): Promise<LoadedIndex> {
  const { conversation, segmentsMax = SEGMENTS_MAX } = target;
  const throughSeq = Math.min(conversation.indexedThrough ?? 0, foldedThrough(conversation));
  const newest = segmentNumber(throughSeq);
  const count = Math.min(segmentsMax, newest);
  const numbers = Array.from({ length: count }, (_, i) => newest - i);
  const isWhole: IsWhole = (number, entry) =>
    entry.throughSeq >= Math.min(lastOfSegment(number), throughSeq);
  const segments: Segment[] = [];
  let isBroken = false;
  let bytesLeft = source.cache.segmentBytes || BYTES_WITHOUT_CACHE;
  for (let i = 0; i < numbers.length && bytesLeft > 0; i += SEGMENTS_PER_READ) {
    const asked = numbers.slice(i, i + SEGMENTS_PER_READ);
    const entries = await loadSegments(source, target, { numbers: asked, isWhole });
    for (const number of asked) {
      const entry = entries.get(number);
      if (!entry || !isWhole(number, entry)) isBroken = true;
      if (!entry) continue;
      segments.push(entry.segment);
      bytesLeft -= entry.sizeBytes;
    }
  }
  return { segments, throughSeq, isWhole: segments.length === newest, isBroken };
}
