import { AppError } from '#shared/errors.ts';
import type { IdTokenVerifier, SignedInCaller } from '#shared/ports/identity-ports.ts';

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
    status: 'UNAUTHENTICATED',
    reason: 'ID_TOKEN_MISSING',
    message: 'a request came without an ID token',
    publicMessage: `${headerFault(authorization)} Send a Firebase ID token: \`Authorization: Bearer <token>\`.`,
  });

const unusableUid = (fault: string) =>
  new AppError({
    status: 'UNAUTHENTICATED',
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
