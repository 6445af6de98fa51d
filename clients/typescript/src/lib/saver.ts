import type { RecapStore } from '../api.ts';

/**
 * Writes what is shown so that it is there at the next start: one write of a key at a time, the newest value. A store that
 * refuses costs only that.
 */
export function createSaver(store: RecapStore) {
  const waiting = new Map<string, (() => unknown) | undefined>();
  let isWriting = false;

  async function write(): Promise<void> {
    for (let next = waiting.entries().next(); !next.done; next = waiting.entries().next()) {
      const [key, valueOf] = next.value;
      waiting.delete(key);
      const done = valueOf ? store.set(key, JSON.stringify(valueOf())) : store.delete(key);
      await done.catch(() => undefined);
    }
  }

  function run(): void {
    if (isWriting) return;
    isWriting = true;
    void Promise.resolve()
      .then(write)
      .finally(() => (isWriting = false));
  }

  return {
    /** `valueOf` is asked when it is written. */
    save: (key: string, valueOf: () => unknown): void => {
      waiting.set(key, valueOf);
      run();
    },
    forget: (key: string): void => {
      waiting.set(key, undefined);
      run();
    },
  };
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
