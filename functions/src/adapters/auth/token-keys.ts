import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { AppError } from '#shared/errors.ts';
import { readBytes } from '#functions/lib/read-bytes.ts';

/** A token with an unknown key id asks for new keys, but not more often than this. */
const KEYS_COOLDOWN_MS = 30_000;
const KEYS_TIMEOUT_MS = 5_000;
/** Google's sets are some KB. */
export const KEYS_MAX_BYTES = 256 * 1_024;

async function fetchKeys(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { status, body } = response;
  return body ? new Response(await readBytes(body, KEYS_MAX_BYTES), { status }) : response;
}

export const remoteKeys = (url: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(url), {
    cooldownDuration: KEYS_COOLDOWN_MS,
    timeoutDuration: KEYS_TIMEOUT_MS,
    [customFetch]: fetchKeys,
  });

export const isExpired = (error: unknown) => error instanceof errors.JWTExpired;

/** The text is no signed token at all. */
export const isNoToken = (error: unknown) =>
  error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid;

/** Errors of jose that say something about the token; all others are about fetching the keys. */
export const isAboutToken = (error: unknown) =>
  error instanceof errors.JWTExpired ||
  error instanceof errors.JWTClaimValidationFailed ||
  isNoToken(error) ||
  error instanceof errors.JWSSignatureVerificationFailed ||
  error instanceof errors.JWKSNoMatchingKey ||
  // Without a key id every key of the set may have signed.
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSEAlgNotAllowed ||
  error instanceof errors.JOSENotSupported;

/** The keys could not be had: the caller may be right, so this is no 401. */
export const keysUnavailable = (cause: unknown) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'KEYS_UNAVAILABLE',
    message: 'the keys that sign tokens could not be fetched',
    publicMessage: 'Sign-in cannot be checked right now. Try again in a moment.',
    retryable: true,
    retryAfterMs: 1_000,
    cause,
  });
