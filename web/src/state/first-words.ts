import { signal } from '@preact/signals';

const KEY = 'recap.firstWords';

/** Older conversations have a title or are found by their day. */
const CONVERSATIONS_MAX = 200;

/** As much as a line of the list shows. */
const CHARACTERS_MAX = 60;

type FirstWordsStorage = Pick<Storage, 'getItem' | 'setItem'>;

function readStored(storage: FirstWordsStorage): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(storage.getItem(KEY) ?? '{}')));
  } catch {
    return {};
  }
}

/**
 * How conversations begin that this browser began: their names until they have a title. A storage that
 * refuses costs only that.
 */
export function createFirstWords(storage: FirstWordsStorage) {
  const entries = signal(readStored(storage));
  const others = (id: string) => Object.entries(entries.value).filter(([known]) => known !== id);
  function keep(next: [string, string][]): void {
    entries.value = Object.fromEntries(next.slice(-CONVERSATIONS_MAX));
    try {
      storage.setItem(KEY, JSON.stringify(entries.value));
    } catch {
      // Private windows have no room.
    }
  }
  return {
    /** Another window of this browser may have begun it. */
    of: (id: string): string | undefined => entries.value[id] ?? readStored(storage)[id],
    note: (id: string, text: string): void =>
      keep([...others(id), [id, Array.from(text).slice(0, CHARACTERS_MAX).join('')]]),
    forget: (id: string): void => keep(others(id)),
  };
}
