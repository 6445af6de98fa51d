import { AppError } from '#shared/errors.ts';
import type { AppCheckToken, SignedInCaller } from '#shared/ports/identity-ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { Route } from '../route.ts';
import { spendAppCheckToken } from './spend-app-check-token.ts';

export const APP_CHECK_HEADER = 'x-firebase-appcheck';

const missingAppCheck = () =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'APP_CHECK_MISSING',
    message: 'a request came without an App Check token',
    publicMessage: 'Send a Firebase App Check token in the header `X-Firebase-AppCheck`.',
  });

/** Undefined where apps need not prove themselves; a token that comes all the same is not looked at. */
async function readAppCheck(
  { config, appCheck }: ChatDependencies,
  token: string | undefined,
): Promise<AppCheckToken | undefined> {
  if (config.APP_CHECK === 'off') return undefined;
  if (token === undefined || token === '') throw missingAppCheck();
  return appCheck.verify(token);
}

/**
 * What a caller with a good ID token still has to pass, before a byte of the body is read: the app proves
 * itself (App Check), the sign-in has not been revoked, and where a route cannot be taken back the App
 * Check token serves once. Which of them are asked for is the deployment's.
 * Throws APP_CHECK_MISSING | APP_CHECK_INVALID | APP_CHECK_REPLAYED | ID_TOKEN_REVOKED | USER_DISABLED
 * (UNAUTHENTICATED), and UNAVAILABLE for what cannot be told.
 */
export async function admit(
  dependencies: ChatDependencies,
  request: {
    route: Pick<Route, 'isSensitive'>;
    caller: SignedInCaller;
    /** The header X-Firebase-AppCheck. */
    appCheckToken: string | undefined;
  },
): Promise<void> {
  const { config, revocations } = dependencies;
  const isSensitive = request.route.isSensitive === true;
  const app = await readAppCheck(dependencies, request.appCheckToken);
  if (config.CHECK_REVOKED === 'always' || (config.CHECK_REVOKED === 'erasures' && isSensitive))
    await revocations.check(request.caller);
  if (app && isSensitive && config.APP_CHECK === 'once')
    await spendAppCheckToken(dependencies, app);
}
