import { LRUCache } from 'lru-cache';
import type { History } from '../../../shared/conversation/history.ts';
import type { KnownJob } from '../../../shared/conversation/known-job.ts';
import { noCache, type ConversationCache } from '../../../shared/conversation/read-conversation.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';
import type { TurnTexts } from '../../../shared/search/turn-texts.ts';
import { utf8Length } from '../../../shared/store/names.ts';

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
 * Finished turns (half), histories and what is searched of turns (a quarter each, but for a sixteenth for what jobs of
 * compaction tell) of an instance, least recently used out first, together at most `maxBytes` (estimated). Keys begin
 * with the epoch, or stand beside it, so that a conversation id that comes
 * back with another owner finds nothing. 0 bytes: keeps nothing.
 */
export function createMemoryCache({ maxBytes }: { maxBytes: number }): ConversationCache {
  if (maxBytes <= 0) return noCache;
  const turns = new LRUCache<string, TurnEntry>({
    maxSize: Math.max(1, Math.floor(maxBytes / 2)),
    sizeCalculation: sizeBytes,
  });
  const histories = new LRUCache<string, HistoryEntry>({
    maxSize: Math.max(1, Math.floor(maxBytes / 4)),
    sizeCalculation: sizeBytes,
  });
  const searched = new LRUCache<string, TextsEntry>({
    maxSize: Math.max(1, Math.floor((maxBytes * 3) / 16)),
    sizeCalculation: textsBytes,
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
    job: (conversationId) => jobs.get(conversationId),
    keepJob: (conversationId, known) => {
      jobs.set(conversationId, known);
    },
  };
}
