import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLocalBucket, type LocalBucket } from '../support/processes/local-bucket.ts';
import { fileBucketSuite } from './file-bucket.suite.ts';

let local: LocalBucket;
let now = new Date();
beforeAll(async () => {
  local = await startLocalBucket({ now: () => now });
});
afterAll(() => local.storage.close());

fileBucketSuite('Cloud Storage, as its stand-in verifies it', () => Promise.resolve(local));

const bytes = new TextEncoder().encode('hello');
const newPath = () => `users/u1/uploads/${randomUUID()}`;
const signed = (path = newPath(), mimeType = 'text/plain') =>
  local.bucket.signUpload({ path, mimeType, sizeBytes: bytes.length });

/** A PUT as somebody sends it who tries something. */
const attempt = async (url: string, headers: Record<string, string>) => {
  const response = await fetch(url, { method: 'PUT', headers, body: bytes });
  return `${response.status} ${/<Code>(\w+)/.exec(await response.text())?.[1] ?? ''}`.trim();
};

type Changed = (url: string, headers: Record<string, string>) => [string, Record<string, string>];

test.each<[string, string, Changed]>([
  [
    'another size',
    '403 SignatureDoesNotMatch',
    (url, headers) => [url, { ...headers, 'x-goog-content-length-range': '0,99999999' }],
  ],
  [
    'a header that was not signed',
    '400 MalformedSecurityHeader',
    (url, headers) => [url, { ...headers, 'x-goog-acl': 'public-read' }],
  ],
  [
    'another file',
    '403 SignatureDoesNotMatch',
    (url, headers) => [url.replace(/uploads\/[^?]+/, `uploads/${randomUUID()}`), headers],
  ],
  [
    'a forged signature',
    '403 SignatureDoesNotMatch',
    (url, headers) => [url.replace(/(X-Goog-Signature=)[0-9a-f]{8}/, '$100000000'), headers],
  ],
])('a signed address is refused with %s: %s', async (_, refusal, change) => {
  const { url, headers } = await signed();

  expect(await attempt(...change(url, { ...headers }))).toBe(refusal);
});

test('a signed address expires after a quarter of an hour', async () => {
  const { url, headers, expireTime } = await signed();
  const before = now;

  now = new Date(expireTime.getTime() + 1_000);

  expect(await attempt(url, { ...headers })).toBe('400 ExpiredToken');
  now = before;
  expect(await attempt(url, { ...headers })).toBe('200');
});

test('a signed download address saves the file under its name', async () => {
  const path = newPath();
  await local.put(await signed(path), bytes);

  const { url } = await local.bucket.signDownload({ path, name: 'Rëceipt 1.txt' });
  const response = await fetch(url);

  expect(await response.text()).toBe('hello');
  expect(response.headers.get('content-disposition')).toBe(
    "attachment; filename*=UTF-8''R%C3%ABceipt%201.txt",
  );
});

test('a file in the bucket expires at its custom time until it is kept', async () => {
  const path = newPath();
  await local.put(await signed(path), bytes);

  const sent = local.storage.files.get(path)?.customTime;
  await local.bucket.keep(path);

  expect(sent).toBe(now.toISOString());
  expect(local.storage.files.get(path)?.customTime).toBe('2999-12-31T00:00:00Z');
});

test('a bucket is called twice where it does not answer, or refuses an access token', async () => {
  local.storage.revoke('token-0');
  expect(await local.bucket.stat(newPath())).toBeUndefined();

  local.storage.fail('GET', 503);
  expect(await local.bucket.stat(newPath())).toBeUndefined();
});

test.each([
  [503, true],
  [403, false],
])('a bucket call that fails with %i throws, retryable: %s', async (status, retryable) => {
  local.storage.fail('GET', status, retryable ? 2 : 1);

  await expect(local.bucket.stat(newPath())).rejects.toMatchObject({
    reason: 'FILES_UNAVAILABLE',
    retryable,
  });
});
