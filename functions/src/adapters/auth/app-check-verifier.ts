import { AppError } from '#shared/errors.ts';
import type { AppCheckVerifier, Clock } from '#shared/ports/ports.ts';
import { systemClock } from '../system/system-clock.ts';
import { isAboutToken, keysUnavailable, remoteKeys } from './token-keys.ts';
import { jwtVerify } from 'jose';
import { z } from 'zod';

export interface AppCheckSettings {
  /** Number of the Firebase project; without it every token is refused. */
  APP_CHECK_PROJECT_NUMBER?: string | undefined;
  /** Ids of the apps that are let in; empty: every app of the project. */
  APP_CHECK_APPS: readonly string[];
  APP_CHECK_KEYS_URL: string;
}

/** Seconds by which the issuer's clock may be ahead of ours. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Of the claims that App Check documents; `jti` stands in limited-use tokens. */
const claimsSchema = z.looseObject({
  sub: z.string().min(1).max(256),
  exp: z.number(),
  iat: z.number(),
  jti: z.string().min(1).optional(),
});

const invalid = (message: string, cause?: unknown) =>
  new AppError({
    status: 'UNAUTHENTICATED',
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
      if (projectNumber === undefined) throw invalid('APP_CHECK_PROJECT_NUMBER is not set');
      const now = clock.now();
      const { payload } = await jwtVerify(token, keys, {
        issuer: `https://firebaseappcheck.googleapis.com/${projectNumber}`,
        audience: `projects/${projectNumber}`,
        algorithms: ['RS256'],
        typ: 'JWT',
        requiredClaims: ['exp', 'iat', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: now,
      }).catch((error: unknown) => {
        throw isAboutToken(error)
          ? invalid('an App Check token was refused', error)
          : keysUnavailable(error);
      });
      const claims = claimsSchema.safeParse(payload);
      if (!claims.success) throw invalid('an App Check token lacks claims', claims.error);
      const { sub: appId, exp, iat, jti } = claims.data;
      if (iat > now.getTime() / 1_000 + CLOCK_TOLERANCE_SECONDS)
        throw invalid('an App Check token is of the future');
      if (apps.length > 0 && !apps.includes(appId))
        throw invalid('an App Check token is of an app that is not in APP_CHECK_APPS');
      return { appId, tokenId: jti ?? signedText(token), expireTime: new Date(exp * 1_000) };
    },
  };
}
