import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';

const KEY_ID = 'key-1';

/** A key set as Google serves it, on a free port, and the means to sign with it. */
export interface TokenKeys {
  url: string;
  /** How often the set was fetched. */
  fetches(): number;
  /** `kid` names a key that the set does not have; `forged` signs with another key under the right name. */
  sign(claims: JWTPayload, options?: { kid?: string; forged?: boolean }): Promise<string>;
  unsigned(claims: JWTPayload): string;
  close(): Promise<void>;
}

export async function startTokenKeys(): Promise<TokenKeys> {
  const [own, other] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const key = { ...(await exportJWK(own.publicKey)), kid: KEY_ID, alg: 'RS256', use: 'sig' };
  let fetches = 0;
  const server = createServer((_, response) => {
    fetches += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [key] }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/keys`,
    fetches: () => fetches,
    sign: (claims, { kid = KEY_ID, forged = false } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid })
        .sign(forged ? other.privateKey : own.privateKey),
    unsigned: (claims) => new UnsecuredJWT(claims).encode(),
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/** Claims of a good Firebase ID token of `project`; `changes` spoil them, `undefined` takes a claim away. */
export function idTokenClaims(
  project: string,
  uid: string,
  changes: Record<string, unknown> = {},
): JWTPayload {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  return {
    iss: `https://securetoken.google.com/${project}`,
    aud: project,
    sub: uid,
    iat: nowSeconds - 10,
    auth_time: nowSeconds - 10,
    exp: nowSeconds + 3_600,
    firebase: { sign_in_provider: 'password' },
    ...changes,
  };
}
