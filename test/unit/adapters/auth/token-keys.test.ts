import { expect, test } from 'vitest';
import { createIdTokenVerifier } from '#functions/adapters/auth/id-token-verifier.ts';
import { KEYS_MAX_BYTES } from '#functions/adapters/auth/token-keys.ts';
import { ON_THE_WAY_BYTES, startLongBody } from '#test/support/long-body.ts';
import { startTokenKeys } from '#test/support/token-keys.ts';

test.each([200, 503])(
  'a key set that is too large, answered with %i, is not read on and verifies no token',
  async (status) => {
    const keys = await startTokenKeys();
    const token = await keys.sign({ sub: 'ann', aud: 'p' });
    await keys.close();
    const { url, takenBytes } = await startLongBody({
      status,
      headers: { 'content-type': 'application/json' },
      begin: '{"keys":[],"more":"',
      end: '"}',
    });
    const verifier = createIdTokenVerifier({
      GOOGLE_CLOUD_PROJECT: 'p',
      ID_TOKEN_KEYS_URL: url,
      allowUnsignedIdTokens: false,
    });

    const verified = verifier.verify(token);

    await expect(verified).rejects.toMatchObject({ reason: 'KEYS_UNAVAILABLE' });
    expect(takenBytes()).toBeLessThan(KEYS_MAX_BYTES + ON_THE_WAY_BYTES);
  },
);
