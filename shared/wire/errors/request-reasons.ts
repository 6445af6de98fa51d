import type { ErrorReasonRow } from './reason-row.ts';

/** Why a request is refused whatever it asks for: how it is written, who sends it, and what the service lacks. */
export const requestReasons = {
  BAD_FIELD: {
    status: 'INVALID_ARGUMENT',
    on: 'every',
    meaning: 'A field or parameter is missing, unknown or out of range; the message names it.',
  },
  BAD_JSON: {
    status: 'INVALID_ARGUMENT',
    on: 'body',
    meaning: 'The body is no JSON in UTF-8, or is nested too deep.',
  },
  BODY_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 413,
    on: 'body',
    meaning: 'The body is larger than the limit.',
  },
  ENCODING_UNSUPPORTED: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 415,
    on: 'body',
    meaning: 'The body is compressed; send it as it is.',
  },
  BODY_TOO_SLOW: {
    status: 'DEADLINE_EXCEEDED',
    httpStatus: 408,
    on: 'body',
    meaning: 'The body took too long to arrive; send the request again.',
  },
  BODY_INCOMPLETE: {
    status: 'CANCELLED',
    on: 'body',
    meaning: 'The body broke off; send the request again.',
  },
  PAGE_TOKEN_INVALID: {
    status: 'INVALID_ARGUMENT',
    on: 'paged',
    meaning: 'The page token is not of this list; begin without one.',
  },
  USER_CALLS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'user',
    meaning:
      'As many calls run, or were made in the last minute, as may; wait as `Retry-After` says.',
  },
  ID_TOKEN_MISSING: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'There is no `Authorization: Bearer` header.',
  },
  ID_TOKEN_EXPIRED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The ID token has expired; get a fresh one.',
  },
  ID_TOKEN_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The ID token is not valid for this service.',
  },
  ID_TOKEN_REVOKED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The sign-in has been revoked, or the account is gone; sign in again.',
  },
  USER_DISABLED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The account is disabled.',
  },
  READ_TOKEN_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'declared',
    meaning: 'The token of the webhook is missing, expired, forged or of another conversation.',
  },
  APP_CHECK_MISSING: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The deployment asks for an App Check token in `X-Firebase-AppCheck`.',
  },
  APP_CHECK_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The App Check token is not valid for this service.',
  },
  APP_CHECK_REPLAYED: {
    status: 'UNAUTHENTICATED',
    on: 'declared',
    meaning:
      'The App Check token has been used; this request needs a limited-use token of its own.',
  },
  ROUTE_NOT_FOUND: { status: 'NOT_FOUND', on: 'declared', meaning: 'There is no such address.' },
  METHOD_NOT_ALLOWED: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 405,
    on: 'declared',
    meaning: 'The address takes other methods only; `Allow` lists them.',
  },
  BAD_REQUEST_LINE: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'The address or the Host header cannot be read.',
  },
  INTERNAL: {
    status: 'INTERNAL',
    on: 'every',
    meaning: 'Something went wrong here; it is logged.',
  },
  STORE_REFUSED: {
    status: 'INTERNAL',
    on: 'user',
    meaning: 'The service is not set up correctly.',
  },
  STORE_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning: 'The service is busy; try again in a moment.',
  },
  STORED_BY_NEWER_VERSION: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning:
      'The conversation was stored by a later version of the service than the one that answers; try again in half a minute.',
  },
  KEYS_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning: 'Sign-in cannot be checked right now; try again in a moment.',
  },
  ACCOUNT_LOOKUP_FAILED: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning: 'Sign-in cannot be checked right now; try again in a moment.',
  },
  EVENT_BUS_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    on: 'write',
    meaning: 'The service is busy; try again in a moment.',
  },
} as const satisfies Record<string, ErrorReasonRow>;
