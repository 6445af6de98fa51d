import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Signer } from '#shared/ports/ports.ts';
import type { SnapshotKey } from '#functions/config/snapshot-keys.ts';

const macOf = (payload: string, secret: KeyObject) =>
  createHmac('sha256', secret).update(payload, 'utf8').digest();

/**
 * HMAC-SHA-256 with the first of the keys; what any of them signed verifies, so that a new key can be put
 * in front while documents of the old one are still read. At least one key.
 */
export function createHmacSigner(keys: readonly SnapshotKey[]): Signer {
  const [first] = keys;
  if (!first) throw new Error('a signer needs a key');
  // Made once: a key from bytes costs as much as the hash itself.
  const secrets = new Map(keys.map(({ keyId, secret }) => [keyId, createSecretKey(secret)]));
  const firstSecret = createSecretKey(first.secret);
  return {
    sign: (payload) => ({
      keyId: first.keyId,
      mac: macOf(payload, firstSecret).toString('base64'),
    }),
    isValid: (payload, { keyId, mac }) => {
      const secret = secrets.get(keyId);
      if (!secret) return false;
      const [expected, given] = [macOf(payload, secret), Buffer.from(mac, 'base64')];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}
