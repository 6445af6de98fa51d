import { createHmacSigner } from '#functions/adapters/hmac-signer.ts';
import { createHash } from 'node:crypto';

export const sha256 = (text: string): string =>
  createHash('sha256').update(text, 'utf8').digest('hex');

/** Signs what webhooks read folded turns with. */
export const localSigner = createHmacSigner('a key of tests alone, 32 characters');
