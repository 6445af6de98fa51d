import { createGcsBucket } from '#functions/adapters/cloud-storage.ts';
import { startStorage, type LocalStorage } from '#infra/local/storage/start-storage.ts';
import type { FileBucket, SignedRequest } from '#shared/ports/ports.ts';

export interface LocalBucket {
  storage: LocalStorage;
  bucket: FileBucket;
  /** Sends bytes to a signed address over HTTP; the status of the answer. */
  put(request: Pick<SignedRequest, 'url' | 'headers'>, bytes: Uint8Array): Promise<number>;
}

/** The real adapter before the fake of Cloud Storage, which is to be closed. */
export async function startLocalBucket(options: { now?: () => Date } = {}): Promise<LocalBucket> {
  const storage = await startStorage({ bucket: 'recap-uploads', ...options });
  let tokens = 0;
  const token = () => Promise.resolve(`token-${tokens}`);
  const bucket = createGcsBucket({
    bucket: 'recap-uploads',
    baseUrl: storage.url,
    iamUrl: storage.url,
    signer: 'chat@demo-recap.iam.gserviceaccount.com',
    accessTokens: {
      get: token,
      renew: () => {
        tokens += 1;
        return token();
      },
    },
    clock: { now: options.now ?? (() => new Date()) },
  });
  return {
    storage,
    bucket,
    put: async ({ url, headers }, bytes) => {
      const body = new Uint8Array(bytes);
      const response = await fetch(url, { method: 'PUT', headers: { ...headers }, body });
      await response.body?.cancel();
      return response.status;
    },
  };
}
