import { createHmacSigner } from '#functions/adapters/hmac-signer.ts';

/** Signs what webhooks read folded turns with. */
export const localSigner = createHmacSigner('a key of tests alone, 32 characters');
