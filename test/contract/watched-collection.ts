import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';

interface WatchedCollection {
  /** The next batch; `undefined` when the watching has ended. */
  next(): Promise<StoredDocument[] | undefined>;
  /** Fires the signal. */
  stop(): void;
}

/** Watches a collection, or those of its documents that are as `since` says, until it is stopped. */
export function watched(
  store: DocumentStore,
  collection: string,
  since?: Parameters<DocumentStore['watch']>[2],
): WatchedCollection {
  const controller = new AbortController();
  const batches = store.watch(collection, controller.signal, since)[Symbol.asyncIterator]();
  const stop = (): void => {
    controller.abort();
  };
  return {
    async next() {
      const result = await batches.next();
      return result.done === true ? undefined : result.value;
    },
    stop,
  };
}
