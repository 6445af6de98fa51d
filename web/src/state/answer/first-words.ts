import { signal } from '@preact/signals';
import { keep, readKept } from './outbox.ts';

const KEY = 'recap.firstWords';

/** Conversations that are known by their first words; older ones have a title or are found by their day. */
const ENTRIES_MAX = 200;

/** As much as a line of the list shows. */
const CHARACTERS_MAX = 60;

const shortened = (text: string): string => {
  const words = text.replaceAll(/\s+/g, ' ').trim();
  const characters = Array.from(words);
  return characters.length <= CHARACTERS_MAX
    ? words
    : `${characters.slice(0, CHARACTERS_MAX - 1).join('')}…`;
};

/** How conversations begin that this browser began: their names until they have a title. */
export function createFirstWords(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  const kept = readKept(storage, KEY);
  const entries = signal<Readonly<Record<string, string>>>(
    typeof kept === 'object' && kept !== null ? Object.fromEntries(Object.entries(kept)) : {},
  );
  const write = (next: readonly (readonly [string, string])[]): void => {
    entries.value = Object.fromEntries(next.slice(-ENTRIES_MAX));
    keep(storage, KEY, entries.value);
  };
  const others = (id: string) => Object.entries(entries.value).filter(([known]) => known !== id);
  return {
    of: (id: string): string | undefined => entries.value[id],
    note: (id: string, text: string): void => write([...others(id), [id, shortened(text)]]),
    forget: (id: string): void => write(others(id)),
  };
}

export type FirstWords = ReturnType<typeof createFirstWords>;
