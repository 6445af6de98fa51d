import { AppError } from '#shared/errors.ts';
import type { PushTokenVerifier, Clock } from '#shared/ports/ports.ts';
import { systemClock } from '../system/system-clock.ts';
import { isAboutToken, keysUnavailable, remoteKeys } from './token-keys.ts';
import { jwtVerify } from 'jose';
import { z } from 'zod';

export interface PushTokenSettings {
  PUSH_AUDIENCE?: string | undefined;
  PUSH_SERVICE_ACCOUNT?: string | undefined;
  PUSH_TOKEN_KEYS_URL: string;
  allowUnsignedPush: boolean;
}

/** Clocks of Google and of the instance may differ this much. */
const CLOCK_TOLERANCE_SECONDS = 5;

const claimsSchema = z.looseObject({ email: z.string(), email_verified: z.literal(true) });

const refused = (message: string, cause?: unknown) =>
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
        throw refused('a push was refused: PUSH_AUDIENCE or PUSH_SERVICE_ACCOUNT is not set');
      const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
      if (token === undefined) throw refused('a push came without a bearer token');
      const { payload } = await jwtVerify(token, keys, {
        issuer: ['https://accounts.google.com', 'accounts.google.com'],
        audience,
        algorithms: ['RS256'],
        requiredClaims: ['exp'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: clock.now(),
      }).catch((error: unknown) => {
        throw isAboutToken(error)
          ? refused('a push token was refused', error)
          : keysUnavailable(error);
      });
      const claims = claimsSchema.safeParse(payload);
      if (!claims.success || claims.data.email !== account)
        throw refused('a push token names another account', claims.error);
    },
  };
}
