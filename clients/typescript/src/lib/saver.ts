import type { RecapStore } from '../api.ts';

/**
 * Writes what is to be there at the next start, one value after the other; of a key that is saved again meanwhile the
 * newest value alone. A store that refuses costs no message, only that it outlives the app.
 */
export function createSaver(store: RecapStore) {
  const waiting = new Map<string, () => unknown>();
  let last: Promise<void> = Promise.resolve();

  async function write(key: string): Promise<void> {
    const valueOf = waiting.get(key);
    waiting.delete(key);
    const value = await valueOf?.();
    if (value !== undefined) await store.set(key, JSON.stringify(value));
    else if (valueOf) await store.delete(key);
  }

  /** Resolves when it is written. `valueOf` is asked then; undefined: nothing is kept. */
  function save(key: string, valueOf: () => unknown): Promise<void> {
    waiting.set(key, valueOf);
    last = last.then(() => write(key)).catch(() => undefined);
    return last;
  }

  return { save, forget: (key: string): Promise<void> => save(key, () => undefined) };
}

export type Saver = ReturnType<typeof createSaver>;

/** What was kept under a key; undefined where there is nothing that can be read. */
export async function readKept<Value>(store: RecapStore, key: string): Promise<Value | undefined> {
  try {
    const text = await store.get(key);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
