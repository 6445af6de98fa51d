import type { FileBucket, SignedRequest } from '#shared/ports/ports.ts';

/** A bucket in memory, and what a client does with the addresses that it gives out. */
interface MemoryBucket extends FileBucket {
  /** Sends bytes as a client would; the status of the answer. */
  put(request: SignedRequest, bytes: Uint8Array): Promise<number>;
  paths(): string[];
}

interface Held {
  mimeType: string;
  bytes: Uint8Array;
}

const ADDRESS_MS = 15 * 60_000;

export function createMemoryBucket(now: () => Date = () => new Date()): MemoryBucket {
  const held = new Map<string, Held>();
  const address = (path: string) => `memory:${path}`;
  const request = <Method extends SignedRequest['method']>(path: string, method: Method) => ({
    url: address(path),
    method,
    headers: {},
    expireTime: new Date(now().getTime() + ADDRESS_MS),
  });
  return {
    signUpload: ({ path, mimeType, sizeBytes }) =>
      Promise.resolve({
        ...request(path, 'PUT'),
        headers: { 'content-type': mimeType, 'content-length-range': `${sizeBytes}` },
      }),
    signDownload: ({ path }) => Promise.resolve(request(path, 'GET')),
    put: ({ url, headers, expireTime }, bytes) => {
      const path = url.slice(address('').length);
      if (now() > expireTime || bytes.length !== Number(headers['content-length-range']))
        return Promise.resolve(400);
      if (held.has(path)) return Promise.resolve(412);
      held.set(path, { mimeType: headers['content-type'] ?? '', bytes });
      return Promise.resolve(200);
    },
    stat: (path) => {
      const found = held.get(path);
      return Promise.resolve(found && { mimeType: found.mimeType, sizeBytes: found.bytes.length });
    },
    read: (path, { maxBytes }) => Promise.resolve(held.get(path)?.bytes.subarray(0, maxBytes)),
    keep: () => Promise.resolve(),
    delete: (path) => {
      held.delete(path);
      return Promise.resolve();
    },
    uri: (path) => `gs://memory/${path}`,
    paths: () => [...held.keys()],
  };
}
