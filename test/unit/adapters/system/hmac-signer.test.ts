import { describe, expect, test } from 'vitest';
import { createHmacSigner } from '#functions/adapters/system/hmac-signer.ts';
import { parseConfig } from '#functions/config.ts';
import { readSnapshotKeys } from '#functions/config/snapshot-keys.ts';

const base64 = (fill: string, length = 32) => Buffer.alloc(length, fill).toString('base64');
const keysOf = (text: string) => readSnapshotKeys(text);

describe('the signer', () => {
  test('the signer computes HMAC-SHA-256 as in RFC 4231', () => {
    const signer = createHmacSigner([{ keyId: 'k', secret: Buffer.alloc(20, 0x0b) }]);

    const { keyId, mac } = signer.sign('Hi There');

    expect(keyId).toBe('k');
    expect(Buffer.from(mac, 'base64').toString('hex')).toBe(
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    );
  });

  test('the signer signs with the first key and accepts signatures of every key', () => {
    const before = createHmacSigner(keysOf(`a:${base64('a')}`));
    const after = createHmacSigner(keysOf(`b:${base64('b')},a:${base64('a')}`));

    expect(after.sign('x').keyId).toBe('b');
    expect(after.isValid('x', before.sign('x'))).toBe(true);
    expect(before.isValid('x', after.sign('x'))).toBe(false);
  });

  test.each([
    ['another payload', 'y', {}],
    ['a mac of another length', 'x', { mac: 'AA==' }],
    ['the id of another key', 'x', { keyId: 'b' }],
  ])('the signer rejects %s', (_, payload, changes) => {
    const signer = createHmacSigner(keysOf(`a:${base64('a')},b:${base64('b')}`));

    expect(signer.isValid(payload, { ...signer.sign('x'), ...changes })).toBe(false);
  });
});

describe('SNAPSHOT_KEYS', () => {
  test.each([
    ['no id', base64('a'), 'key 1 is not written as keyId:base64'],
    ['no base64', 'a:***', 'key 1 is not written as keyId:base64'],
    ['a short key', `a:${base64('a')},b:${base64('b', 31)}`, 'key 2 has fewer than 32 bytes'],
    ['one id twice', `a:${base64('a')},a:${base64('b')}`, 'two keys have the same id'],
  ])('SNAPSHOT_KEYS with %s is refused without quoting it', (_, keys, problem) => {
    const parse = () => parseConfig({ GOOGLE_CLOUD_PROJECT: 'recap', SNAPSHOT_KEYS: keys });

    expect(parse).toThrow(`SNAPSHOT_KEYS: ${problem}`);
    expect(parse).not.toThrow(base64('a'));
  });

  test('SNAPSHOT_KEYS is required outside of demo- projects', () => {
    expect(() => parseConfig({ GOOGLE_CLOUD_PROJECT: 'recap' })).toThrow(
      'SNAPSHOT_KEYS: must be set',
    );
    expect(parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap' }).SNAPSHOT_KEYS).toHaveLength(1);
  });
});
