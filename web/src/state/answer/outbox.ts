import type { AnswerRequest } from '#web/api/chat-api.ts';

/** A request whose end this page has not seen: it is made again when the page comes back. */
interface OutboxEntry {
  conversationId: string;
  request: AnswerRequest;
}

type OutboxStorage = Pick<Storage, 'getItem' | 'setItem'>;

const KEY = 'recap.outbox';

/** Entries that are kept; older ones have an end in the transcript long since. */
const ENTRIES_MAX = 50;

function readAll(storage: OutboxStorage): OutboxEntry[] {
  try {
    const entries: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    return Array.isArray(entries) ? entries : [];
  } catch {
    return [];
  }
}

const isOf = (messageId: string) => (entry: OutboxEntry) => entry.request.messageId === messageId;

/** The requests under way, kept over a reload. A storage that refuses costs only that. */
export function createOutbox(storage: OutboxStorage) {
  const write = (entries: readonly OutboxEntry[]): void => {
    try {
      storage.setItem(KEY, JSON.stringify(entries.slice(-ENTRIES_MAX)));
    } catch {
      // Private windows have no room.
    }
  };
  return {
    of: (conversationId: string): AnswerRequest[] =>
      readAll(storage).flatMap((entry) =>
        entry.conversationId === conversationId ? [entry.request] : [],
      ),
    add: (entry: OutboxEntry): void => {
      const others = readAll(storage).filter((known) => !isOf(entry.request.messageId)(known));
      write([...others, entry]);
    },
    remove: (messageId: string): void =>
      write(readAll(storage).filter((entry) => !isOf(messageId)(entry))),
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
