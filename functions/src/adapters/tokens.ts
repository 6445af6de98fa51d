import type {
  AppCheckVerifier,
  IdTokenVerifier,
  PushTokenVerifier,
  Clock,
  ServiceTokenVerifier,
} from '#shared/ports/ports.ts';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  UnsecuredJWT,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { z } from 'zod';
import { AppError } from '#shared/lib/errors.ts';
import { readBytes } from '#functions/lib/read-bytes.ts';
import { systemClock } from './clocks.ts';

/* Signed tokens: Firebase's ID tokens and App Check tokens, and Google's OIDC tokens of servers and on pushes of Pub/Sub. */

/** A token with an unknown key id asks for new keys, but not more often than this. */
const KEYS_COOLDOWN_MS = 30_000;
const KEYS_TIMEOUT_MS = 5_000;
/** Google's sets are some KB. */
export const KEYS_MAX_BYTES = 256 * 1_024;
/** Seconds by which the issuer's clock may be ahead of ours. */
const CLOCK_TOLERANCE_SECONDS = 5;

async function fetchKeys(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { status, body } = response;
  return body ? new Response(await readBytes(body, KEYS_MAX_BYTES), { status }) : response;
}

const remoteKeys = (url: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(url), {
    cooldownDuration: KEYS_COOLDOWN_MS,
    timeoutDuration: KEYS_TIMEOUT_MS,
    [customFetch]: fetchKeys,
  });

/** The text is no signed token at all. */
const isNoToken = (error: unknown) =>
  error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid;

/** Errors of jose that say something about the token; all others are about fetching the keys. */
const isAboutToken = (error: unknown) =>
  error instanceof errors.JWTExpired ||
  error instanceof errors.JWTClaimValidationFailed ||
  isNoToken(error) ||
  error instanceof errors.JWSSignatureVerificationFailed ||
  error instanceof errors.JWKSNoMatchingKey ||
  // Without a key id every key of the set may have signed.
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSEAlgNotAllowed ||
  error instanceof errors.JOSENotSupported;

/**
 * The claims that `read` finds in a token. Throws what `refusal` makes of an error about the token, and KEYS_UNAVAILABLE
 * where the keys could not be had: the caller may be right then, so this is no 401.
 */
async function judge(
  read: () => Promise<{ payload: JWTPayload }>,
  refusal: (cause: unknown) => AppError,
): Promise<JWTPayload> {
  try {
    return (await read()).payload;
  } catch (cause) {
    if (isAboutToken(cause)) throw refusal(cause);
    throw new AppError({
      reason: 'KEYS_UNAVAILABLE',
      message: 'the keys that sign tokens could not be fetched',
      publicMessage: 'Sign-in cannot be checked right now. Try again in a moment.',
      retryAfterMs: 1_000,
      cause,
    });
  }
}

interface IdTokenSettings {
  GOOGLE_CLOUD_PROJECT: string;
  ID_TOKEN_KEYS_URL: string;
  allowUnsignedIdTokens: boolean;
}

/** What Firebase puts into every ID token beyond the registered claims. */
const idClaimsSchema = z.looseObject({
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

const expiredIdToken = (cause: unknown, remedy: string) =>
  new AppError({
    reason: 'ID_TOKEN_EXPIRED',
    publicMessage: `The ID token has expired. ${remedy}`,
    cause,
  });

const invalidIdToken = (publicMessage: string, cause?: unknown) =>
  new AppError({
    reason: 'ID_TOKEN_INVALID',
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
  if (!claims) throw invalidIdToken(NO_ID_TOKEN);
  if (isCustomToken(claims))
    throw invalidIdToken(
      `This is a custom token: give it to signInWithCustomToken(). ${signIn(project)}`,
    );
  if (claims.iss !== issuerFor(project) || claims.aud !== project)
    throw invalidIdToken(`The token is of another project or service. ${signIn(project)}`);
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
 * Firebase ID tokens: signed by Google for this project (RS256), not expired, signed in before now. Unsigned ones only when
 * the configuration allows them. `verify` throws ID_TOKEN_EXPIRED, ID_TOKEN_INVALID (UNAUTHENTICATED), KEYS_UNAVAILABLE.
 */
export function createIdTokenVerifier(
  settings: IdTokenSettings,
  clock: Pick<Clock, 'now'> = systemClock,
): IdTokenVerifier {
  const project = settings.GOOGLE_CLOUD_PROJECT;
  const keys = remoteKeys(settings.ID_TOKEN_KEYS_URL);
  const notValid = (cause?: unknown) =>
    invalidIdToken(`The ID token is not valid for this service. ${signIn(project)}`, cause);
  const refusal = (cause: unknown) => {
    if (cause instanceof errors.JWTExpired)
      return expiredIdToken(cause, 'Get a fresh one from Firebase Auth and send it again.');
    return isNoToken(cause) ? invalidIdToken(NO_ID_TOKEN, cause) : notValid(cause);
  };
  return {
    verify: async (token) => {
      requireProject(token, project);
      const now = clock.now();
      const expected = {
        issuer: issuerFor(project),
        audience: project,
        requiredClaims: ['exp', 'iat', 'sub', 'auth_time'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: now,
      };
      const payload = await judge(
        async () =>
          settings.allowUnsignedIdTokens && isUnsigned(token)
            ? UnsecuredJWT.decode(token, expected)
            : jwtVerify(token, keys, { ...expected, algorithms: ['RS256'] }),
        refusal,
      );
      const claims = idClaimsSchema.safeParse(payload);
      if (!claims.success) throw notValid(claims.error);
      const { sub: uid, auth_time: signedInAt, iat: issuedAt, firebase } = claims.data;
      const latestSeconds = now.getTime() / 1_000 + CLOCK_TOLERANCE_SECONDS;
      if (Math.max(signedInAt, issuedAt) > latestSeconds) throw notValid();
      return {
        uid,
        tier: firebase?.sign_in_provider === 'anonymous' ? 'anonymous' : 'signedIn',
        ...(firebase?.tenant !== undefined && { tenant: firebase.tenant }),
        signedInAt: new Date(signedInAt * 1_000),
        claims: claims.data,
      };
    },
  };
}

interface AppCheckSettings {
  /** Number of the Firebase project; without it every token is refused. */
  APP_CHECK_PROJECT_NUMBER?: string | undefined;
  /** Ids of the apps that are let in; empty: every app of the project. */
  APP_CHECK_APPS: readonly string[];
  APP_CHECK_KEYS_URL: string;
}

/** Of the claims that App Check documents; `jti` stands in limited-use tokens. */
const appCheckClaimsSchema = z.looseObject({
  sub: z.string().min(1).max(256),
  exp: z.number(),
  iat: z.number(),
  jti: z.string().min(1).optional(),
});

const invalidAppCheck = (message: string, cause?: unknown) =>
  new AppError({
    reason: 'APP_CHECK_INVALID',
    message,
    publicMessage:
      'The App Check token is not valid for this service. Get a fresh one from Firebase App Check, in an app of this project.',
    cause,
  });

/** What is signed stays the same however the base64 of the signature is written. */
const signedText = (token: string) => token.slice(0, token.lastIndexOf('.'));

/**
 * Firebase App Check tokens: signed by Google for this project (RS256, `typ` JWT), not expired, of an app
 * that is let in. Checked here, without a call for each request.
 * `verify` throws APP_CHECK_INVALID (UNAUTHENTICATED), KEYS_UNAVAILABLE.
 */
export function createAppCheckVerifier(
  settings: AppCheckSettings,
  clock: Pick<Clock, 'now'> = systemClock,
): AppCheckVerifier {
  const { APP_CHECK_PROJECT_NUMBER: projectNumber, APP_CHECK_APPS: apps } = settings;
  const keys = remoteKeys(settings.APP_CHECK_KEYS_URL);
  return {
    verify: async (token) => {
      if (projectNumber === undefined) throw invalidAppCheck('APP_CHECK_PROJECT_NUMBER is not set');
      const now = clock.now();
      const payload = await judge(
        () =>
          jwtVerify(token, keys, {
            issuer: `https://firebaseappcheck.googleapis.com/${projectNumber}`,
            audience: `projects/${projectNumber}`,
            algorithms: ['RS256'],
            typ: 'JWT',
            requiredClaims: ['exp', 'iat', 'sub'],
            clockTolerance: CLOCK_TOLERANCE_SECONDS,
            currentDate: now,
          }),
        (cause) => invalidAppCheck('an App Check token was refused', cause),
      );
      const claims = appCheckClaimsSchema.safeParse(payload);
      if (!claims.success) throw invalidAppCheck('an App Check token lacks claims', claims.error);
      const { sub: appId, exp, iat, jti } = claims.data;
      if (iat > now.getTime() / 1_000 + CLOCK_TOLERANCE_SECONDS)
        throw invalidAppCheck('an App Check token is of the future');
      if (apps.length > 0 && !apps.includes(appId))
        throw invalidAppCheck('an App Check token is of an app that is not in APP_CHECK_APPS');
      return { appId, tokenId: jti ?? signedText(token), expireTime: new Date(exp * 1_000) };
    },
  };
}

const GOOGLE_ISSUERS = ['https://accounts.google.com', 'accounts.google.com'];

/** What every OIDC token of Google for this audience has. */
const googleToken = (audience: string, currentDate: Date) => ({
  issuer: GOOGLE_ISSUERS,
  audience,
  requiredClaims: ['exp'],
  clockTolerance: CLOCK_TOLERANCE_SECONDS,
  currentDate,
});

const signedByGoogle = { algorithms: ['RS256'] };

/** Who a service account is. A token that was made without its e-mail names nobody. */
const accountClaimsSchema = z.looseObject({
  aud: z.string(),
  email: z.string(),
  email_verified: z.literal(true),
});

interface ServiceTokenSettings {
  ADMIN_SERVICE_ACCOUNTS: readonly string[];
  ADMIN_AUDIENCE?: string | undefined;
  PUSH_TOKEN_KEYS_URL: string;
  allowUnsignedIdTokens: boolean;
}

const deniedAccount = (publicMessage: string, account?: string) =>
  new AppError({
    status: 'PERMISSION_DENIED',
    reason: 'ON_BEHALF_OF_DENIED',
    message: 'a service account that may not act for users was refused',
    publicMessage,
    metadata: account === undefined ? {} : { account },
  });

/**
 * Google's ID tokens of service accounts: signed by Google for ADMIN_AUDIENCE (RS256), not expired, the e-mail verified
 * and in ADMIN_SERVICE_ACCOUNTS. Where that lists nobody, every token of Google is refused unread. Unsigned ones only
 * when the configuration allows them, as those of users.
 */
export function createServiceTokenVerifier(
  settings: ServiceTokenSettings,
  clock: Pick<Clock, 'now'> = systemClock,
): ServiceTokenVerifier {
  const { ADMIN_SERVICE_ACCOUNTS: accounts, ADMIN_AUDIENCE: audience } = settings;
  const keys = remoteKeys(settings.PUSH_TOKEN_KEYS_URL);
  return {
    verify: async (token) => {
      if (!GOOGLE_ISSUERS.includes(readClaims(token)?.iss ?? '')) return undefined;
      if (accounts.length === 0 || audience === undefined)
        throw deniedAccount(
          'No service account may act for users here: let ADMIN_SERVICE_ACCOUNTS list it. Users send the ID token of Firebase Auth.',
        );
      const notValid = (cause: unknown) =>
        cause instanceof errors.JWTExpired
          ? expiredIdToken(cause, 'Get a fresh one of the service account.')
          : invalidIdToken(
              `The ID token of the service account is not valid here: it must be signed by Google for the audience \`${audience}\` and tell the account's e-mail.`,
              cause,
            );
      const expected = googleToken(audience, clock.now());
      const payload = await judge(
        async () =>
          settings.allowUnsignedIdTokens && isUnsigned(token)
            ? UnsecuredJWT.decode(token, expected)
            : jwtVerify(token, keys, { ...expected, ...signedByGoogle }),
        notValid,
      );
      const claims = accountClaimsSchema.safeParse(payload);
      if (!claims.success) throw notValid(claims.error);
      const { email } = claims.data;
      if (!accounts.includes(email))
        throw deniedAccount(
          `The service account ${email} may not act for users: ADMIN_SERVICE_ACCOUNTS does not list it.`,
          email,
        );
      return email;
    },
  };
}

interface PushTokenSettings {
  PUSH_AUDIENCE?: string | undefined;
  PUSH_SERVICE_ACCOUNT?: string | undefined;
  PUSH_TOKEN_KEYS_URL: string;
  allowUnsignedPush: boolean;
}

const pushClaimsSchema = z.looseObject({ email: z.string(), email_verified: z.literal(true) });

const refusedPush = (message: string, cause?: unknown) =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'PUSH_TOKEN_INVALID',
    message,
    publicMessage: 'This address takes pushes of its own subscription only.',
    cause,
  });

/**
 * Google's OIDC tokens on Pub/Sub pushes: issuer, audience and the one service account that pushes, its
 * e-mail verified. Without PUSH_AUDIENCE and PUSH_SERVICE_ACCOUNT every push is refused, for any Google
 * account can have a token made out to any audience. A push without a token passes only on emulators.
 */
export function createPushTokenVerifier(
  settings: PushTokenSettings,
  clock: Pick<Clock, 'now'> = systemClock,
): PushTokenVerifier {
  const { PUSH_AUDIENCE: audience, PUSH_SERVICE_ACCOUNT: account } = settings;
  const keys = remoteKeys(settings.PUSH_TOKEN_KEYS_URL);
  return {
    verify: async (header) => {
      if (header === undefined && settings.allowUnsignedPush) return;
      if (audience === undefined || account === undefined)
        throw refusedPush('a push was refused: PUSH_AUDIENCE or PUSH_SERVICE_ACCOUNT is not set');
      const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
      if (token === undefined) throw refusedPush('a push came without a bearer token');
      const payload = await judge(
        () => jwtVerify(token, keys, { ...googleToken(audience, clock.now()), ...signedByGoogle }),
        (cause) => refusedPush('a push token was refused', cause),
      );
      const claims = pushClaimsSchema.safeParse(payload);
      if (!claims.success || claims.data.email !== account)
        throw refusedPush('a push token names another account', claims.error);
    },
  };
}
