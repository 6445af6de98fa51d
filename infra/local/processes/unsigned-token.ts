import { unsignedJwt } from '#functions/local-server.ts';

const tenYearsSeconds = 10 * 365 * 24 * 60 * 60;

/**
 * A Firebase ID token without signature, as the Auth emulator gives them: good for ten years, and only
 * where FIREBASE_AUTH_EMULATOR_HOST is set and the project begins with `demo-`.
 */
export function unsignedToken(user: {
  uid: string;
  projectId: string;
  now: Date;
  /** Custom claims. */
  claims?: Readonly<Record<string, unknown>>;
}): string {
  const issuedAtSeconds = Math.floor(user.now.getTime() / 1_000) - 60;
  return unsignedJwt({
    ...user.claims,
    iss: `https://securetoken.google.com/${user.projectId}`,
    aud: user.projectId,
    sub: user.uid,
    user_id: user.uid,
    auth_time: issuedAtSeconds,
    iat: issuedAtSeconds,
    exp: issuedAtSeconds + tenYearsSeconds,
    firebase: { identities: {}, sign_in_provider: 'custom' },
  });
}
