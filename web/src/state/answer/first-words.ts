import { signal } from '@preact/signals';

const KEY = 'recap.firstWords';

/** Conversations that are known by their first words; older ones have a title or are found by their day. */
const ENTRIES_MAX = 200;

/** As much as a line of the list shows. */
const CHARACTERS_MAX = 60;

type Entries = Readonly<Record<string, string>>;

function readAll(storage: Pick<Storage, 'getItem'>): Entries {
  try {
    const found: unknown = JSON.parse(storage.getItem(KEY) ?? '{}');
    return typeof found === 'object' && found !== null
      ? Object.fromEntries(Object.entries(found))
      : {};
  } catch {
    return {};
  }
}

const shortened = (text: string): string => {
  const words = text.replaceAll(/\s+/g, ' ').trim();
  const characters = Array.from(words);
  return characters.length <= CHARACTERS_MAX
    ? words
    : `${characters.slice(0, CHARACTERS_MAX - 1).join('')}…`;
};

/** How conversations begin that this browser began: their names until they have a title. A storage that refuses costs only that. */
export function createFirstWords(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  const entries = signal(readAll(storage));
  const keep = (next: readonly (readonly [string, string])[]): void => {
    entries.value = Object.fromEntries(next.slice(-ENTRIES_MAX));
    try {
      storage.setItem(KEY, JSON.stringify(entries.value));
    } catch {
      // Private windows have no room.
    }
  };
  const others = (id: string) => Object.entries(entries.value).filter(([known]) => known !== id);
  return {
    of: (id: string): string | undefined => entries.value[id],
    note: (id: string, text: string): void => keep([...others(id), [id, shortened(text)]]),
    forget: (id: string): void => keep(others(id)),
  };
}

export type FirstWords = ReturnType<typeof createFirstWords>;
