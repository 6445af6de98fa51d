import { signal } from '@preact/signals';

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
