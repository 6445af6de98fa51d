import type { DocumentStore } from '#shared/ports/ports.ts';

/** What makes an instance die at a crash point: nothing that it begins afterwards ends. */
export function dyingAt(store: DocumentStore, point: string) {
  let isDead = false;
  const never = new Promise<never>(() => undefined);
  const commit: DocumentStore['commit'] = (writes) => (isDead ? never : store.commit(writes));
  const atCrashPoint = (reached: string) => {
    isDead ||= reached === point;
    return isDead ? never : Promise.resolve();
  };
  return { store: { ...store, commit }, atCrashPoint };
}
