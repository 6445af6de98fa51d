import { AppError } from '#shared/errors.ts';
import { uidFault } from '#shared/user/uid.ts';
import type { IdTokenVerifier, SignedInCaller } from '#shared/ports/identity-ports.ts';

const missingToken = () =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'ID_TOKEN_MISSING',
    message: 'a request came without an ID token',
    publicMessage: 'Send a Firebase ID token: `Authorization: Bearer <token>`.',
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
  if (token === undefined) throw missingToken();
  const caller = await idTokens.verify(token);
  const fault = uidFault(caller.uid);
  if (fault !== undefined) throw unusableUid(fault);
  return caller;
}
