import type { FileBucket, SignedRequest } from '#shared/ports/ports.ts';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

interface BucketUnderTest {
  bucket: FileBucket;
  /** Sends bytes as a client does; the status of the answer. */
  put(request: SignedRequest, bytes: Uint8Array): Promise<number>;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

/** What every bucket does. */
export function fileBucketSuite(name: string, start: () => Promise<BucketUnderTest>): void {
  describe(`a bucket: ${name}`, () => {
    let under: BucketUnderTest;
    beforeAll(async () => {
      under = await start();
    });
    // A uid may hold what an address may not.
    const newPath = () => `users/a%2F"é ${randomUUID()}/uploads/${randomUUID()}`;
    const upload = async (path: string, text: string, mimeType = 'text/plain') => {
      const bytes = bytesOf(text);
      const file = { path, mimeType, sizeBytes: bytes.length };
      return under.put(await under.bucket.signUpload(file), bytes);
    };

    test('a bucket takes a file at a signed address and describes it', async () => {
      const path = newPath();

      const status = await upload(path, 'hello', 'image/png');

      expect(status).toBe(200);
      expect(await under.bucket.stat(path)).toEqual({ mimeType: 'image/png', sizeBytes: 5 });
      expect(textOf(await under.bucket.read(path, { maxBytes: 100 }))).toBe('hello');
      expect(textOf(await under.bucket.read(path, { maxBytes: 2 }))).toBe('he');
    });

    test.each(['hell', 'hello!'])('a bucket refuses a file of another size: %s', async (text) => {
      const path = newPath();
      const file = { path, mimeType: 'text/plain', sizeBytes: 5 };

      const status = await under.put(await under.bucket.signUpload(file), bytesOf(text));

      expect(status).toBe(400);
      expect(await under.bucket.stat(path)).toBeUndefined();
    });

    test('a bucket takes a file once; a sent file does not change', async () => {
      const path = newPath();
      await upload(path, 'first');

      const status = await upload(path, 'later');

      expect(status).toBe(412);
      expect(textOf(await under.bucket.read(path, { maxBytes: 100 }))).toBe('first');
    });

    test('a bucket knows nothing of a missing file', async () => {
      const path = newPath();

      await under.bucket.keep(path);
      await under.bucket.delete(path);

      expect(await under.bucket.stat(path)).toBeUndefined();
      expect(await under.bucket.read(path, { maxBytes: 1 })).toBeUndefined();
    });

    test('a bucket deletes a file that was kept', async () => {
      const path = newPath();
      await upload(path, 'kept');

      await under.bucket.keep(path);
      await under.bucket.keep(path);
      await under.bucket.delete(path);

      expect(await under.bucket.stat(path)).toBeUndefined();
    });
  });
}
