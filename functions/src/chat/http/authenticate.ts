import type { AppCheckToken, SignedInCaller } from '#shared/ports/ports.ts';
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

/** Names the user that a server acts for, percent-encoded. */
export const ON_BEHALF_OF = 'X-Recap-On-Behalf-Of';

/** The same in a body, where it is not read: the user is known before a body is. */
const ON_BEHALF_OF_FIELD = 'onBehalfOf';

/** Visible ASCII: what a header holds unchanged on every way, and what percent-encoding makes of any uid. */
const VISIBLE = /^[!-~]+$/;

function decodedUid(text: string): string | undefined {
  try {
    return VISIBLE.test(text) ? decodeURIComponent(text) : undefined;
  } catch {
    return undefined;
  }
}

/** `metadata.account` tells the log who it was. */
const badOnBehalfOf = (account: string, field: string, publicMessage: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    publicMessage,
    metadata: { field, account },
  });

/** The user that a server names. Throws BAD_FIELD (400). */
function userOfServer(account: string, named: string | undefined, now: Date): SignedInCaller {
  const bad = (problem: string) =>
    badOnBehalfOf(
      account,
      ON_BEHALF_OF,
      `${problem} A service account says in \`${ON_BEHALF_OF}\` for which user it calls, percent-encoded: encodeURIComponent(uid).`,
    );
  if (named === undefined) throw bad(`There is no header \`${ON_BEHALF_OF}\`.`);
  const uid = decodedUid(named);
  if (uid === undefined) throw bad('The user id cannot be read.');
  const fault = uidFault(uid);
  if (fault !== undefined) throw bad(`The user id ${fault}.`);
  return { uid, tier: 'signedIn', signedInAt: now, claims: {}, actor: account };
}

/**
 * The caller, from the verified token alone; of a token of a server, the user that the header names. Throws
 * ID_TOKEN_MISSING, ID_TOKEN_INVALID for a uid that nothing could be stored under, BAD_FIELD, and what the verifiers throw.
 */
export async function authenticate(
  {
    idTokens,
    serviceTokens,
    clock,
  }: Pick<ChatDependencies, 'idTokens' | 'serviceTokens' | 'clock'>,
  header: (name: string) => string | undefined,
): Promise<SignedInCaller> {
  const authorization = header('authorization');
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined)
    throw new AppError({
      reason: 'ID_TOKEN_MISSING',
      publicMessage: `${headerFault(authorization)} Send a Firebase ID token: \`Authorization: Bearer <token>\`.`,
    });
  const named = header(ON_BEHALF_OF);
  const account = await serviceTokens?.verify(token).catch((error: unknown) => {
    // Without the header it is most often that of Google Sign-In, sent by mistake: told as any other that is no user's.
    if (named !== undefined) throw error;
  });
  if (account !== undefined) return userOfServer(account, named, clock.now());
  const caller = await idTokens.verify(token);
  const fault = uidFault(caller.uid);
  if (fault !== undefined)
    throw new AppError({
      reason: 'ID_TOKEN_INVALID',
      publicMessage: `The user id (\`sub\`) of the ID token ${fault}. Sign in as a user whose id has 1 to 128 characters of valid Unicode.`,
    });
  return caller;
}

/** Refuses a user who names another one. Throws ON_BEHALF_OF_DENIED (403). */
function refuseActing(field: string): never {
  throw new AppError({
    status: 'PERMISSION_DENIED',
    reason: 'ON_BEHALF_OF_DENIED',
    message: `a user sent ${field}`,
    publicMessage: `\`${field}\` is for servers of the app. Leave it out: the ID token says who you are. A server sends the ID token of a service account that ADMIN_SERVICE_ACCOUNTS lists.`,
    metadata: { field },
  });
}

/**
 * The body, unless it says for whom it is: the header alone does. Throws ON_BEHALF_OF_DENIED (403), of a server BAD_FIELD
 * (400).
 */
export function refuseNamedUser(body: unknown, caller: SignedInCaller | undefined): unknown {
  if (!caller || typeof body !== 'object' || body === null) return body;
  if (!Object.hasOwn(body, ON_BEHALF_OF_FIELD)) return body;
  if (caller.actor === undefined) refuseActing(ON_BEHALF_OF_FIELD);
  throw badOnBehalfOf(
    caller.actor,
    ON_BEHALF_OF_FIELD,
    `\`${ON_BEHALF_OF_FIELD}\` is no field of a body. Say it in the header \`${ON_BEHALF_OF}\`.`,
  );
}

/** Beyond the clock tolerance of the verifier: the record outlives the token. */
const KEPT_AFTER_EXPIRY_MS = 60_000;

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
    if (record?.fields['by'] !== by)
      throw new AppError({
        reason: 'APP_CHECK_REPLAYED',
        publicMessage:
          'This App Check token has been used. Get a limited-use token for this request and send it once.',
      });
  }
}

const APP_CHECK_HEADER = 'x-firebase-appcheck';

/** Undefined where apps need not prove themselves; a token that comes all the same is not looked at. */
async function readAppCheck(
  { config, appCheck }: ChatDependencies,
  token: string | undefined,
): Promise<AppCheckToken | undefined> {
  if (config.APP_CHECK === 'off') return undefined;
  if (token === undefined || token === '')
    throw new AppError({
      reason: 'APP_CHECK_MISSING',
      publicMessage: 'Send a Firebase App Check token in the header `X-Firebase-AppCheck`.',
    });
  return appCheck.verify(token);
}

/**
 * What a caller with a good ID token still has to pass, before a byte of the body is read: the app proves
 * itself (App Check), the sign-in has not been revoked, and where a route cannot be taken back the App
 * Check token serves once. Which of them are asked for is the deployment's.
 * A server has neither app nor sign-in of its user: its account is its proof. A user who says for whom the call is
 * is none.
 * Throws APP_CHECK_MISSING | APP_CHECK_INVALID | APP_CHECK_REPLAYED | ID_TOKEN_REVOKED | USER_DISABLED
 * (UNAUTHENTICATED), ON_BEHALF_OF_DENIED (PERMISSION_DENIED), and UNAVAILABLE for what cannot be told.
 */
export async function admit(
  dependencies: ChatDependencies,
  request: {
    route: Pick<Route, 'isSensitive'>;
    caller: SignedInCaller;
    header: (name: string) => string | undefined;
  },
): Promise<void> {
  const { config, revocations } = dependencies;
  const { caller, header } = request;
  if (caller.actor !== undefined) return;
  if (header(ON_BEHALF_OF) !== undefined) refuseActing(ON_BEHALF_OF);
  const isSensitive = request.route.isSensitive === true;
  const app = await readAppCheck(dependencies, header(APP_CHECK_HEADER));
  if (config.CHECK_REVOKED === 'always' || (config.CHECK_REVOKED === 'erasures' && isSensitive))
    await revocations.check(caller);
  if (app && isSensitive && config.APP_CHECK === 'once')
    await spendAppCheckToken(dependencies, app);
}
