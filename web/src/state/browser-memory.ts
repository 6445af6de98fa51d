import { signal } from '@preact/signals';
import type { AnswerRequest } from '../api/chat-api.ts';

/* What the page keeps in this browser over a reload. A storage that refuses costs only that. */

type BrowserStorage = Pick<Storage, 'getItem' | 'setItem'>;

function read(storage: BrowserStorage, key: string): unknown {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

function write(storage: BrowserStorage, key: string, value: unknown): void {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // Private windows have no room.
  }
}

/** A request whose end this page has not seen: it is made again when the page comes back. */
interface OutboxEntry {
  conversationId: string;
  request: AnswerRequest;
}

const OUTBOX_KEY = 'recap.outbox';

/** Older entries have an end in the transcript long since. */
const OUTBOX_ENTRIES_MAX = 50;

/** The requests under way. */
export function createOutbox(storage: BrowserStorage) {
  const entries = (): OutboxEntry[] => {
    const stored = read(storage, OUTBOX_KEY);
    return Array.isArray(stored) ? stored : [];
  };
  const others = (messageId: string): OutboxEntry[] =>
    entries().filter(({ request }) => request.messageId !== messageId);
  const keep = (next: readonly OutboxEntry[]): void =>
    write(storage, OUTBOX_KEY, next.slice(-OUTBOX_ENTRIES_MAX));
  return {
    of: (conversationId: string): AnswerRequest[] =>
      entries()
        .filter((entry) => entry.conversationId === conversationId)
        .map(({ request }) => request),
    add: (entry: OutboxEntry): void => keep([...others(entry.request.messageId), entry]),
    remove: (messageId: string): void => keep(others(messageId)),
  };
}

export type Outbox = ReturnType<typeof createOutbox>;

const FIRST_WORDS_KEY = 'recap.firstWords';

/** Older conversations have a title or are found by their day. */
const FIRST_WORDS_MAX = 200;

/** As much as a line of the list shows. */
const CHARACTERS_MAX = 60;

function shortened(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  if (characters.length <= CHARACTERS_MAX) return characters.join('');
  return `${characters.slice(0, CHARACTERS_MAX - 1).join('')}…`;
}

/** How conversations begin that this browser began: their names until they have a title. */
export function createFirstWords(storage: BrowserStorage) {
  const stored = read(storage, FIRST_WORDS_KEY);
  const entries = signal<Readonly<Record<string, string>>>(
    typeof stored === 'object' && stored !== null ? Object.fromEntries(Object.entries(stored)) : {},
  );
  const others = (id: string) => Object.entries(entries.value).filter(([known]) => known !== id);
  const keep = (next: readonly (readonly [string, string])[]): void => {
    entries.value = Object.fromEntries(next.slice(-FIRST_WORDS_MAX));
    write(storage, FIRST_WORDS_KEY, entries.value);
  };
  return {
    of: (id: string): string | undefined => entries.value[id],
    note: (id: string, text: string): void => keep([...others(id), [id, shortened(text)]]),
    forget: (id: string): void => keep(others(id)),
  };
}

export type FirstWords = ReturnType<typeof createFirstWords>;
