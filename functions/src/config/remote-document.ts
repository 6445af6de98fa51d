import type { Clock, DocumentStore, Logger, StoredDocument } from '#shared/ports/ports.ts';

/** A change takes effect within this time in every instance, and costs each of them one read in it. */
const FRESH_MS = 60_000;

/** A document that an operator changes while the process runs, kept for one instance. */
export interface RemoteDocument {
  /**
   * Reads the document if what is known is a minute old. Who comes while it is read goes on with what is
   * known; only the first reading is waited for by all. A failure keeps what is known; throws nothing.
   */
  refresh(): Promise<void>;
}

/** Follows a document: `take` is called with it, or with undefined where there is none, whenever it changed. */
export function followRemoteDocument(
  {
    store,
    clock,
    logger,
  }: {
    store: Pick<DocumentStore, 'get'>;
    clock: Pick<Clock, 'now'>;
    logger: Logger;
  },
  document: {
    path: string;
    /** Of the log line that says that it could not be read. */
    failureEvent: string;
    take: (document: StoredDocument | undefined) => void;
  },
): RemoteDocument {
  const { path, failureEvent, take } = document;
  let seen: string | undefined;
  let readAfterMs = -Infinity;
  let first: Promise<void> | undefined;

  const read = async () => {
    try {
      const [found] = await store.get([path]);
      if (found?.updateTime === seen) return;
      seen = found?.updateTime;
      take(found);
    } catch (error) {
      logger.log('WARNING', failureEvent, {
        error: error instanceof Error ? error.name : typeof error,
      });
    }
  };

  return {
    async refresh() {
      const nowMs = clock.now().getTime();
      if (nowMs < readAfterMs) return first;
      readAfterMs = nowMs + FRESH_MS;
      const reading = read();
      first ??= reading;
      await reading;
    },
  };
}
