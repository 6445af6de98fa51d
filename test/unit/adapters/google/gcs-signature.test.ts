import { expect, test } from 'vitest';
import { signingForm } from '#functions/adapters/cloud-storage.ts';

/* Cases of Google's own conformance suite: the hash of the canonical request is the last line. */

const request = {
  method: 'GET',
  baseUrl: 'https://storage.googleapis.com',
  bucket: 'test-bucket',
  path: 'test-object',
  headers: {},
  signer: 'test-iam-credentials@dummy-project-id.iam.gserviceaccount.com',
  expiresSeconds: 10,
  now: new Date('2019-02-01T09:00:00Z'),
} as const;

test.each([
  ['a simple GET', request, '00e2fb794ea93d7adb703edaebdd509821fcc7d4f1a79ac5c8d2b394df109320'],
  [
    'another time',
    { ...request, expiresSeconds: 20, now: new Date('2019-03-01T09:00:00Z') },
    '779f19fdb6fd381390e2d5af04947cf21750277ee3c20e0c97b7e46a1dff8907',
  ],
  [
    'slashes in the name of the object',
    { ...request, path: '/path/with/slashes/under_score/amper&sand/file.ext' },
    '63c601ecd6ccfec84f1113fc906609cbdf7651395f4300cecd96ddd2c35164f8',
  ],
])('the Cloud Storage signature matches for %s', (_, given, hash) => {
  expect(signingForm(given).stringToSign.split('\n').at(-1)).toBe(hash);
});

test('the Cloud Storage signature names algorithm, time and scope before the hash', () => {
  expect(signingForm(request).stringToSign).toMatch(
    /^GOOG4-RSA-SHA256\n20190201T090000Z\n20190201\/auto\/storage\/goog4_request\n[0-9a-f]{64}$/,
  );
});
