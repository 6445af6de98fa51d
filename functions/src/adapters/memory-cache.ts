import { noCache, type SearchCache, type SegmentEntry } from '#shared/recall/search-cache.ts';
import type { KnownJob } from '#shared/conversation/documents/job.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import { LRUCache } from 'lru-cache';

/** Bytes of one UTF-16 unit. */
const UNIT_BYTES = 2;
/** Of a number, a date, a flag, and of the place of a value in its object; generous. */
const VALUE_BYTES = 16;

/** What an entry takes in memory: its texts, and something for each value. */
function sizeBytes(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length * UNIT_BYTES;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  for (const each of Object.values(value)) bytes += VALUE_BYTES + sizeBytes(each);
  return bytes;
}

/** Bytes of an entry beside its texts; generous. */
const TEXTS_BYTES = 300;

/** Latin texts take a byte a character, and most texts are Latin. */
const textsBytes = ({ texts: { messages, tools } }: { texts: TurnTexts }) =>
  messages.reduce(
    (sum, { text }) => sum + Buffer.byteLength(text),
    TEXTS_BYTES + Buffer.byteLength(tools),
  );

/**
 * Finished turns, histories, the index of recall, what is searched of turns and what jobs of compaction tell of an
 * instance, least recently used out first, together at most `maxBytes` (estimated). Keys begin with the epoch, or stand
 * beside it, so that a conversation id that comes back with another owner finds nothing. 0 bytes: keeps nothing.
 */
export function createMemoryCache({ maxBytes }: { maxBytes: number }): SearchCache {
  if (maxBytes <= 0) return noCache;
  const sixteenths = (share: number) => Math.max(1, Math.floor((maxBytes * share) / 16));
  const lru = <Entry extends object>(
    maxSize: number,
    sizeCalculation: (entry: Entry) => number = sizeBytes,
  ) => new LRUCache<string, Entry>({ maxSize, sizeCalculation });
  const turns = lru<{ turn: Turn; loadedAt: number }>(sixteenths(6));
  const histories = lru<{ history: History; loadedAt: number }>(sixteenths(4));
  const segments = lru<SegmentEntry>(sixteenths(4), (entry) => Math.max(1, entry.sizeBytes));
  const searched = lru<{ texts: TurnTexts; loadedAt: number }>(sixteenths(1), textsBytes);
  const jobs = lru<KnownJob>(sixteenths(1));
  return {
    turn: (epoch, seq) => turns.get(`${epoch}/${seq}`),
    keepTurn: (epoch, entry) => void turns.set(`${epoch}/${entry.turn.seq}`, entry),
    history: (epoch, generation) => histories.get(`${epoch}/${generation}`),
    keepHistory: (epoch, entry) =>
      void histories.set(`${epoch}/${entry.history.generation}`, entry),
    texts: (epoch, seq) => searched.get(`${epoch}/${seq}`),
    keepTexts: (epoch, entry) => void searched.set(`${epoch}/${entry.texts.seq}`, entry),
    segment: (epoch, number) => segments.get(`${epoch}/${number}`),
    keepSegment: (epoch, number, entry) => void segments.set(`${epoch}/${number}`, entry),
    // Documents of one conversation are read until it has half of all: what the last read brings beyond must not push out
    // the first.
    segmentBytes: Math.floor(sixteenths(4) / 2),
    job: (conversationId) => jobs.get(conversationId),
    keepJob: (conversationId, known) => void jobs.set(conversationId, known),
  };
}
