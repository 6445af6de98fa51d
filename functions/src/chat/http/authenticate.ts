import { AppError } from '../../../../shared/errors.ts';
import type { IdTokenVerifier, SignedInCaller } from '../../../../shared/identity-ports.ts';

const missingToken = () =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'ID_TOKEN_MISSING',
    message: 'a request came without an ID token',
    publicMessage: 'Send a Firebase ID token: `Authorization: Bearer <token>`.',
  });

/** The caller, from the verified token alone. Throws ID_TOKEN_MISSING and what `idTokens` throws. */
export function authenticate(
  idTokens: IdTokenVerifier,
  authorization: string | undefined,
): Promise<SignedInCaller> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return Promise.reject(missingToken());
  return idTokens.verify(token);
}
