/** Tells whoever listens that something is new. */
export function createTopic() {
  const listeners = new Set<() => void>();
  return {
    get hasListeners() {
      return listeners.size > 0;
    },
    tell: (): void => {
      for (const listener of Array.from(listeners)) listener();
    },
    subscribe: (listener: () => void): (() => void) => {
      // The same function may listen twice.
      const entry = (): void => listener();
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
  };
}
