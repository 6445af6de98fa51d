import type { Caller } from './ports.ts';

/** A caller as the ID token tells of them. */
export interface SignedInCaller extends Caller {
  /** When they last proved who they are; a token that is renewed keeps it. */
  signedInAt: Date;
  /** The tenant of Identity Platform that the account belongs to, where the project has tenants. */
  tenant?: string;
}

export interface IdTokenVerifier {
  /** The caller of a Firebase ID token. Throws AppError ID_TOKEN_EXPIRED | ID_TOKEN_INVALID (UNAUTHENTICATED). */
  verify(token: string): Promise<SignedInCaller>;
}

export interface RevocationCheck {
  /**
   * Resolves when the account is there, is not disabled, and its sign-ins have not been revoked since
   * `signedInAt`. Throws AppError ID_TOKEN_REVOKED | USER_DISABLED (UNAUTHENTICATED), ACCOUNT_LOOKUP_FAILED
   * (UNAVAILABLE) when that cannot be told.
   */
  check(caller: SignedInCaller): Promise<void>;
}

/** What Firebase App Check says of the app that sends a request. */
export interface AppCheckToken {
  appId: string;
  /** The same text for the same token only. */
  tokenId: string;
  expireTime: Date;
}

export interface AppCheckVerifier {
  /** Reads an App Check token. Throws AppError APP_CHECK_INVALID (UNAUTHENTICATED), KEYS_UNAVAILABLE. */
  verify(token: string): Promise<AppCheckToken>;
}

/** Access tokens of the service account that the process runs as. */
export interface AccessTokens {
  /** Throws whatever the platform throws when there is none to be had. */
  get(): Promise<string>;
  /** Another one than `refused`, which a service did not take. Throws like `get`. */
  renew(refused: string): Promise<string>;
}

export interface PushTokenVerifier {
  /** Resolves when the Authorization header proves the Pub/Sub service account. Throws UNAUTHENTICATED. */
  verify(authorizationHeader: string | undefined): Promise<void>;
}
