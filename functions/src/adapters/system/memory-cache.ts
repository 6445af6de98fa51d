import {
  noCache,
  type ConversationCache,
  type SegmentEntry,
} from '#shared/conversation/context/read-conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { KnownJob } from '#shared/conversation/documents/job.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import { utf8Length } from '#shared/store/names.ts';
import { LRUCache } from 'lru-cache';

type TurnEntry = { turn: Turn; loadedAt: number };
type HistoryEntry = { history: History; loadedAt: number };
type TextsEntry = { texts: TurnTexts; loadedAt: number };

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
const textsBytes = ({ texts: { messages, tools } }: TextsEntry) =>
  messages.reduce((sum, { text }) => sum + utf8Length(text), TEXTS_BYTES + utf8Length(tools));

/**
 * Share of all that the index of recall may take. Of one conversation documents are read until it has half of that: what the
 * last read brings beyond must not push out the first.
 */
const SEGMENTS_FRACTION = 1 / 4;

/**
 * Finished turns (three eighths), histories and the index of recall (a quarter each), what is searched of turns and what
 * jobs of compaction tell (a sixteenth each) of an instance, least recently used out first, together at most `maxBytes`
 * (estimated). Keys begin
 * with the epoch, or stand beside it, so that a conversation id that comes
 * back with another owner finds nothing. 0 bytes: keeps nothing.
 */
export function createMemoryCache({ maxBytes }: { maxBytes: number }): ConversationCache {
  if (maxBytes <= 0) return noCache;
  const turns = new LRUCache<string, TurnEntry>({
    maxSize: Math.max(1, Math.floor((maxBytes * 3) / 8)),
    sizeCalculation: sizeBytes,
  });
  const histories = new LRUCache<string, HistoryEntry>({
    maxSize: Math.max(1, Math.floor(maxBytes / 4)),
    sizeCalculation: sizeBytes,
  });
  const searched = new LRUCache<string, TextsEntry>({
    maxSize: Math.max(1, Math.floor(maxBytes / 16)),
    sizeCalculation: textsBytes,
  });
  const segmentBytes = Math.floor(maxBytes * SEGMENTS_FRACTION);
  const segments = new LRUCache<string, SegmentEntry>({
    maxSize: Math.max(1, segmentBytes),
    sizeCalculation: (entry) => Math.max(1, entry.sizeBytes),
  });
  const jobs = new LRUCache<string, KnownJob>({
    maxSize: Math.max(1, Math.floor(maxBytes / 16)),
    sizeCalculation: sizeBytes,
  });
  return {
    turn: (epoch, seq) => turns.get(`${epoch}/${seq}`),
    keepTurn: (epoch, entry) => {
      turns.set(`${epoch}/${entry.turn.seq}`, entry);
    },
    history: (epoch, generation) => histories.get(`${epoch}/${generation}`),
    keepHistory: (epoch, entry) => {
      histories.set(`${epoch}/${entry.history.generation}`, entry);
    },
    texts: (epoch, seq) => searched.get(`${epoch}/${seq}`),
    keepTexts: (epoch, entry) => {
      searched.set(`${epoch}/${entry.texts.seq}`, entry);
    },
    segment: (epoch, number) => segments.get(`${epoch}/${number}`),
    keepSegment: (epoch, number, entry) => {
      segments.set(`${epoch}/${number}`, entry);
    },
    segmentBytes: Math.floor(segmentBytes / 2),
    job: (conversationId) => jobs.get(conversationId),
    keepJob: (conversationId, known) => {
      jobs.set(conversationId, known);
    },
  };
}
