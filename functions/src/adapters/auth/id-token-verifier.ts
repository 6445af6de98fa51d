import { AppError } from '#shared/errors.ts';
import type { IdTokenVerifier, Clock } from '#shared/ports/ports.ts';
import { systemClock } from '../system/system-clock.ts';
import { isAboutToken, isExpired, isNoToken, keysUnavailable, remoteKeys } from './token-keys.ts';
import { decodeJwt, decodeProtectedHeader, jwtVerify, UnsecuredJWT, type JWTPayload } from 'jose';
import { z } from 'zod';

export interface IdTokenSettings {
  GOOGLE_CLOUD_PROJECT: string;
  ID_TOKEN_KEYS_URL: string;
  allowUnsignedIdTokens: boolean;
}

/** Seconds by which the issuer's clock may be ahead of ours. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** What Firebase puts into every ID token beyond the registered claims. */
const claimsSchema = z.looseObject({
  /** What a uid may be is asked of every caller, whoever vouches for them. */
  sub: z.string(),
  auth_time: z.number(),
  iat: z.number(),
  /** One audience; Firebase never puts more into a token. */
  aud: z.string(),
  firebase: z
    .looseObject({ sign_in_provider: z.string().optional(), tenant: z.string().optional() })
    .optional(),
});

const expired = (cause: unknown) =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'ID_TOKEN_EXPIRED',
    message: 'an ID token has expired',
    publicMessage:
      'The ID token has expired. Get a fresh one from Firebase Auth and send it again.',
    cause,
  });

const invalid = (publicMessage: string, cause?: unknown) =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'ID_TOKEN_INVALID',
    message: 'an ID token was refused',
    publicMessage,
    cause,
  });

const NO_ID_TOKEN =
  'What was sent is no ID token: send the text of getIdToken(), no API key and no custom token.';

/** What the sender of another token does to have one of this project. */
const signIn = (project: string) =>
  `Sign in to the Firebase project \`${project}\` and send the text of getIdToken().`;

/** Who Firebase's custom tokens are for; the start of an address that ends in a version. */
const CUSTOM_TOKEN_AUDIENCE = 'https://identitytoolkit.googleapis.com/';

const isCustomToken = ({ aud }: JWTPayload) =>
  typeof aud === 'string' && aud.startsWith(CUSTOM_TOKEN_AUDIENCE);

/** The claims before anything is checked; undefined: the text is no token. */
function readClaims(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

const issuerFor = (project: string) => `https://securetoken.google.com/${project}`;

/**
 * Refuses what no key can make an ID token of this project, so that nobody waits for keys in vain.
 * Throws ID_TOKEN_INVALID.
 */
function requireProject(token: string, project: string): void {
  const claims = readClaims(token);
  if (!claims) throw invalid(NO_ID_TOKEN);
  if (isCustomToken(claims))
    throw invalid(`This is a custom token: give it to signInWithCustomToken(). ${signIn(project)}`);
  if (claims.iss !== issuerFor(project) || claims.aud !== project)
    throw invalid(`The token is of another project or service. ${signIn(project)}`);
}

/** The Auth emulator does not sign: such a token has `alg: none`. */
function isUnsigned(token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg === 'none';
  } catch {
    return false;
  }
}

/**
 * Firebase ID tokens: signed by Google for this project (RS256), not expired, signed in before now. Unsigned ones only when the configuration allows them.
 * `verify` throws ID_TOKEN_EXPIRED, ID_TOKEN_INVALID (UNAUTHENTICATED), KEYS_UNAVAILABLE.
 */
export function createIdTokenVerifier(
  settings: IdTokenSettings,
  clock: Pick<Clock, 'now'> = systemClock,
): IdTokenVerifier {
  const project = settings.GOOGLE_CLOUD_PROJECT;
  const keys = remoteKeys(settings.ID_TOKEN_KEYS_URL);
  const notValid = (cause?: unknown) =>
    invalid(`The ID token is not valid for this service. ${signIn(project)}`, cause);

  async function readPayload(token: string, currentDate: Date): Promise<JWTPayload> {
    const expected = {
      issuer: issuerFor(project),
      audience: project,
      requiredClaims: ['exp', 'iat', 'sub', 'auth_time'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate,
    };
    if (settings.allowUnsignedIdTokens && isUnsigned(token))
      return UnsecuredJWT.decode(token, expected).payload;
    return (await jwtVerify(token, keys, { ...expected, algorithms: ['RS256'] })).payload;
  }

  return {
    verify: async (token) => {
      requireProject(token, project);
      const now = clock.now();
      const payload = await readPayload(token, now).catch((error: unknown) => {
        if (isExpired(error)) throw expired(error);
        if (isNoToken(error)) throw invalid(NO_ID_TOKEN, error);
        throw isAboutToken(error) ? notValid(error) : keysUnavailable(error);
      });
      const claims = claimsSchema.safeParse(payload);
      const latestSeconds = now.getTime() / 1_000 + CLOCK_TOLERANCE_SECONDS;
      if (!claims.success) throw notValid(claims.error);
      const { auth_time: signedInAt, iat: issuedAt } = claims.data;
      if (Math.max(signedInAt, issuedAt) > latestSeconds) throw notValid();
      const { sign_in_provider: provider, tenant } = claims.data.firebase ?? {};
      return {
        uid: claims.data.sub,
        tier: provider === 'anonymous' ? 'anonymous' : 'signedIn',
        ...(tenant !== undefined && { tenant }),
        signedInAt: new Date(signedInAt * 1_000),
      };
    },
  };
}
