import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type GenerateKeyPairResult,
  type JWK,
  type JWTPayload,
} from 'jose';
import { openServer } from '#infra/local/processes/open-server.ts';
import { once } from '#shared/lib/once.ts';

const KEY_ID = 'key-1';

/** A key set as Google serves it, on a free port, and the means to sign with it. */
export interface TokenKeys {
  url: string;
  /** How often the set was fetched. */
  fetches(): number;
  /**
   * `kid` names a key that the set does not have; `forged` signs with another key under the right name;
   * `header` adds to the protected header, or takes away from it (undefined).
   */
  sign(
    claims: JWTPayload,
    options?: { kid?: string; forged?: boolean; header?: Record<string, unknown> },
  ): Promise<string>;
  /** The public key of the set, as anybody can fetch it. */
  publicJwk: JWK;
  /** A key that the set does not have. */
  stranger: GenerateKeyPairResult;
  unsigned(claims: JWTPayload): string;
  close(): Promise<void>;
}

/** Of all key sets of a process: three pairs take 0.2 s of processor time, and tests start hundreds of servers. */
const keyPairs = once(() =>
  Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256'), generateKeyPair('RS256')]),
);

export async function startTokenKeys(): Promise<TokenKeys> {
  const [own, other, retired] = await keyPairs();
  const key = { ...(await exportJWK(own.publicKey)), kid: KEY_ID, alg: 'RS256', use: 'sig' };
  // Google's sets hold several keys, too.
  const older = { ...(await exportJWK(retired.publicKey)), kid: 'key-0', alg: 'RS256', use: 'sig' };
  let fetches = 0;
  const server = createServer((_, response) => {
    fetches += 1;
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ keys: [key, older] }));
  });
  const { url, close } = await openServer(server);
  return {
    url: `${url}/keys`,
    fetches: () => fetches,
    publicJwk: key,
    stranger: other,
    sign: (claims, { kid = KEY_ID, forged = false, header = {} } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT', ...header })
        .sign(forged ? other.privateKey : own.privateKey),
    unsigned: (claims) => new UnsecuredJWT(claims).encode(),
    close,
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

/** Claims of a good App Check token of the project with this number; changed as those of an ID token are. */
export function appCheckClaims(
  projectNumber: string,
  changes: Record<string, unknown> = {},
): JWTPayload {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  return {
    iss: `https://firebaseappcheck.googleapis.com/${projectNumber}`,
    aud: [`projects/${projectNumber}`, 'projects/some-project'],
    sub: `1:${projectNumber}:ios:abc123`,
    iat: nowSeconds - 10,
    exp: nowSeconds + 3_600,
    jti: randomUUID(),
    ...changes,
  };
}

/** Claims of a good ID token of a service account, as Google gives them; changed as those of an ID token are. */
export function serverClaims(
  audience: string,
  email: string,
  changes: Record<string, unknown> = {},
): JWTPayload {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  return {
    iss: 'https://accounts.google.com',
    aud: audience,
    azp: '104112233445566778899',
    sub: '104112233445566778899',
    email,
    email_verified: true,
    iat: nowSeconds - 10,
    exp: nowSeconds + 3_600,
    ...changes,
  };
}
