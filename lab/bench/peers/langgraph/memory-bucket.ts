/** What the checkpointer uses of a bucket of Cloud Storage. */
interface Bucket {
  file(path: string): {
    save(content: Uint8Array): Promise<void>;
    download(): Promise<[Uint8Array]>;
  };
}

/** A bucket in memory: free, so that what the peer keeps there costs it nothing. */
export function createMemoryBucket(): Bucket {
  const files = new Map<string, Uint8Array>();
  return {
    file: (path) => ({
      save: (content) => Promise.resolve(void files.set(path, content)),
      download: () => Promise.resolve([files.get(path) ?? new Uint8Array()]),
    }),
  };
}
