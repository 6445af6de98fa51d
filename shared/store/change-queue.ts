/**
 * Between a store that tells of changes as they come and a reader that takes them when it can: holds the
 * newest state of each changed document, so that a slow reader costs no more than the collection's size.
 */
export class ChangeQueue<Document extends { readonly path: string }> {
  readonly #documents = new Map<string, Document>();
  #isFirst = true;
  #isComplete = false;
  #failure: Error | undefined;
  #wake: () => void = () => {};

  /** A created or changed document; an older state of it that nobody took is given up. */
  put(document: Document): void {
    this.drop(document.path);
    this.#documents.set(document.path, document);
  }

  /** The document is gone: its last state need not be told any more. */
  drop(path: string): void {
    this.#documents.delete(path);
  }

  /** The documents put so far belong together and may be read. */
  release(): void {
    this.#isComplete = true;
    this.#wake();
  }

  /** Ends the reading with this error. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  /**
   * What was put up to the first `release`, even if nothing was, then what comes, batch by batch. Returns
   * when `signal` fires, also while it waits. For one reader. Throws the error given to `fail`.
   */
  async *batches(signal: AbortSignal): AsyncGenerator<Document[], void, undefined> {
    const wake = (): void => {
      this.#wake();
    };
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        if (this.#failure) throw this.#failure;
        const batch = this.#take();
        if (batch) yield batch;
        else await this.#change();
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #take(): Document[] | undefined {
    if (!this.#isComplete) return undefined;
    this.#isComplete = false;
    const batch = [...this.#documents.values()];
    this.#documents.clear();
    // Created and deleted between two batches: there is nothing to tell.
    if (batch.length === 0 && !this.#isFirst) return undefined;
    this.#isFirst = false;
    return batch;
  }

  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#wake = () => {
      resolve(undefined);
    };
    await promise;
  }
}
