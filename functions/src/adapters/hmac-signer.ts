import type { Signer } from '#shared/ports/ports.ts';
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA-256 with a key of 32 characters or more. */
export function createHmacSigner(key: string): Signer {
  const secret = createSecretKey(key, 'utf8');
  const macOf = (payload: string) => createHmac('sha256', secret).update(payload, 'utf8').digest();
  return {
    sign: (payload) => macOf(payload).toString('base64'),
    isValid: (payload, signature) => {
      const [expected, given] = [macOf(payload), Buffer.from(signature, 'base64')];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}
