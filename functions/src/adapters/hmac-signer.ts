import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Signer } from '../../../shared/ports.ts';
import type { SnapshotKey } from '../snapshot-keys.ts';

const macOf = (payload: string, { secret }: SnapshotKey) =>
  createHmac('sha256', secret).update(payload, 'utf8').digest();

/**
 * HMAC-SHA-256 with the first of the keys; what any of them signed verifies, so that a new key can be put
 * in front while documents of the old one are still read. At least one key.
 */
export function createHmacSigner(keys: readonly SnapshotKey[]): Signer {
  const [first] = keys;
  if (!first) throw new Error('a signer needs a key');
  return {
    sign: (payload) => ({ keyId: first.keyId, mac: macOf(payload, first).toString('base64') }),
    isValid: (payload, { keyId, mac }) => {
      const key = keys.find((each) => each.keyId === keyId);
      if (!key) return false;
      const [expected, given] = [macOf(payload, key), Buffer.from(mac, 'base64')];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}
