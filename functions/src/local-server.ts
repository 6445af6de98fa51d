/* The server of an app that the local stack knows. Its tokens have no signature, so they say nothing of anybody. */

export const LOCAL_SERVER = {
  account: 'server@demo-recap.iam.gserviceaccount.com',
  audience: 'http://localhost',
} as const;

/** Whether a host is this machine, as it calls itself. */
export const isLoopback = (hostname: string): boolean =>
  ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token without a signature, as Firebase's Auth emulator gives them. */
export const unsignedJwt = (claims: object): string =>
  `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;

/** Good for an hour, and only in a `demo-` project that takes tokens of the Auth emulator. */
export function localServerToken(now: Date): string {
  const { account, audience } = LOCAL_SERVER;
  const issuedAtSeconds = Math.floor(now.getTime() / 1_000) - 60;
  return unsignedJwt({
    iss: 'https://accounts.google.com',
    aud: audience,
    sub: account,
    email: account,
    email_verified: true,
    iat: issuedAtSeconds,
    exp: issuedAtSeconds + 3_660,
  });
}
