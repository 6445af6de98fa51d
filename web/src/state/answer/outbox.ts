import type { AnswerRequest } from '#web/api/chat-api.ts';

/** A request whose end this page has not seen: it is made again when the page comes back. */
interface OutboxEntry {
  conversationId: string;
  request: AnswerRequest;
}

const KEY = 'recap.outbox';

/** Entries that are kept; older ones have an end in the transcript long since. */
const ENTRIES_MAX = 50;

/** JSON that is kept in this browser; undefined where there is none. */
export function readKept(storage: Pick<Storage, 'getItem'>, key: string): unknown {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it. A storage that refuses costs only that. */
export function keep(storage: Pick<Storage, 'setItem'>, key: string, value: unknown): void {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // Private windows have no room.
  }
}

/** The requests under way, kept over a reload. */
export function createOutbox(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  const read = (): OutboxEntry[] => {
    const entries = readKept(storage, KEY);
    return Array.isArray(entries) ? entries : [];
  };
  const others = (messageId: string): OutboxEntry[] =>
    read().filter(({ request }) => request.messageId !== messageId);
  const write = (entries: readonly OutboxEntry[]): void =>
    keep(storage, KEY, entries.slice(-ENTRIES_MAX));
  return {
    of: (conversationId: string): AnswerRequest[] =>
      read()
        .filter((entry) => entry.conversationId === conversationId)
        .map(({ request }) => request),
    add: (entry: OutboxEntry): void => write([...others(entry.request.messageId), entry]),
    remove: (messageId: string): void => write(others(messageId)),
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
