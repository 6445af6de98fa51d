import type { AppCheckToken, IdTokenVerifier, SignedInCaller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { Route } from '../route.ts';
import { spentAppCheckTokenPath } from '#shared/conversation/documents/paths.ts';
import { AppError, GuardLostError } from '#shared/lib/errors.ts';

/** UTF-16 units of a uid: what Firebase gives out, and what an app's own server may. */
const UID_MAX_CHARACTERS = 128;

/**
 * Why nothing can be stored for a user of this id, as the end of a sentence; undefined: it can. Any other character
 * may stand in one (`userPath`).
 */
export function uidFault(uid: string): string | undefined {
  if (uid === '') return 'is empty';
  if (uid.length > UID_MAX_CHARACTERS)
    return `has ${uid.length} characters; at most ${UID_MAX_CHARACTERS} are taken`;
  return uid.isWellFormed() ? undefined : 'holds half of a surrogate pair';
}

/** What is wrong with the header, for somebody who sends their first request. */
function headerFault(authorization: string | undefined): string {
  if (authorization === undefined) return 'There is no header `Authorization`.';
  return /^Bearer *$/i.test(authorization)
    ? 'The header `Authorization` has no token behind `Bearer`: is the variable set in this shell?'
    : 'The header `Authorization` is no `Bearer` and one token.';
}

const missingToken = (authorization: string | undefined) =>
  new AppError({
    reason: 'ID_TOKEN_MISSING',
    message: 'a request came without an ID token',
    publicMessage: `${headerFault(authorization)} Send a Firebase ID token: \`Authorization: Bearer <token>\`.`,
  });

const unusableUid = (fault: string) =>
  new AppError({
    reason: 'ID_TOKEN_INVALID',
    message: `an ID token was refused: its uid ${fault}`,
    publicMessage: `The user id (\`sub\`) of the ID token ${fault}. Sign in as a user whose id has 1 to 128 characters of valid Unicode.`,
  });

/**
 * The caller, from the verified token alone. Throws ID_TOKEN_MISSING, ID_TOKEN_INVALID for a uid that nothing could be
 * stored under, and what `idTokens` throws.
 */
export async function authenticate(
  idTokens: IdTokenVerifier,
  authorization: string | undefined,
): Promise<SignedInCaller> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw missingToken(authorization);
  const caller = await idTokens.verify(token);
  const fault = uidFault(caller.uid);
  if (fault !== undefined) throw unusableUid(fault);
  return caller;
}

/** Beyond the clock tolerance of the verifier: the record outlives the token. */
const KEPT_AFTER_EXPIRY_MS = 60_000;

const replayed = () =>
  new AppError({
    reason: 'APP_CHECK_REPLAYED',
    message: 'an App Check token was sent a second time where one serves once',
    publicMessage:
      'This App Check token has been used. Get a limited-use token for this request and send it once.',
  });

/**
 * Lets an App Check token through once: the first to create its record wins, whichever instance it asks.
 * The record holds nothing but when it may go (a TTL field). Throws APP_CHECK_REPLAYED (UNAUTHENTICATED),
 * StoreUnavailableError.
 */
export async function spendAppCheckToken(
  { store, sha256, randomness }: Pick<ChatDependencies, 'store' | 'sha256' | 'randomness'>,
  { tokenId, expireTime }: AppCheckToken,
): Promise<void> {
  const path = spentAppCheckTokenPath(sha256(tokenId));
  const by = randomness.uuid();
  const keptUntil = new Date(expireTime.getTime() + KEPT_AFTER_EXPIRY_MS);
  try {
    await store.commit([{ op: 'create', path, fields: { by, expireTime: keptUntil } }]);
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
    // The reply to our own create may have been lost and the create repeated.
    const [record] = await store.get([path]);
    if (record?.fields['by'] !== by) throw replayed();
  }
}

export const APP_CHECK_HEADER = 'x-firebase-appcheck';

const missingAppCheck = () =>
  new AppError({
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
