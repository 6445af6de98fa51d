import { expect, test } from 'vitest';
import { createIdTokenVerifier, KEYS_MAX_BYTES } from '#functions/adapters/tokens.ts';
import { ON_THE_WAY_BYTES, startLongBody } from '#test/support/long-body.ts';
import { idTokenClaims, startTokenKeys } from '#test/support/token-keys.ts';

const verifierFor = (keysUrl: string) =>
  createIdTokenVerifier({
    GOOGLE_CLOUD_PROJECT: 'p',
    ID_TOKEN_KEYS_URL: keysUrl,
    allowUnsignedIdTokens: false,
  });

test.each([200, 503])(
  'a key set that is too large, answered with %i, is not read on and verifies no token',
  async (status) => {
    const keys = await startTokenKeys();
    const token = await keys.sign(idTokenClaims('p', 'ann'));
    await keys.close();
    const { url, takenBytes } = await startLongBody({
      status,
      headers: { 'content-type': 'application/json' },
      begin: '{"keys":[],"more":"',
      end: '"}',
    });

    const verified = verifierFor(url).verify(token);

    await expect(verified).rejects.toMatchObject({ reason: 'KEYS_UNAVAILABLE' });
    expect(takenBytes()).toBeLessThan(KEYS_MAX_BYTES + ON_THE_WAY_BYTES);
  },
);

test.each<[string, Record<string, unknown>, string]>([
  [
    'another project',
    { iss: 'https://securetoken.google.com/other', aud: 'other' },
    'another project or service. Sign in to the Firebase project `p`',
  ],
  [
    'no user yet, a custom one,',
    {
      iss: 'firebase-adminsdk@p.iam.gserviceaccount.com',
      aud: 'https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit',
    },
    'signInWithCustomToken()',
  ],
])('a token of %s is refused before any key is fetched', async (...[, changes, named]) => {
  const keys = await startTokenKeys();
  const token = await keys.sign(idTokenClaims('p', 'ann', changes));
  await keys.close();

  const verified = verifierFor(keys.url).verify(token);

  await expect(verified).rejects.toMatchObject({
    reason: 'ID_TOKEN_INVALID',
    publicMessage: expect.stringContaining(named),
  });
});

test('an API key in place of an ID token is refused with the call that gives one', async () => {
  const verified = verifierFor('http://127.0.0.1:9/keys').verify('AIzaSyD-not-a-token');

  await expect(verified).rejects.toMatchObject({
    reason: 'ID_TOKEN_INVALID',
    publicMessage: expect.stringMatching(/getIdToken\(\), no API key/u),
  });
});
