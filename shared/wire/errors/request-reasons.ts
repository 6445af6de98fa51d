import type { ErrorReasonRow } from './reason-row.ts';

/** Why a request is refused whatever it asks for: how it is written, who sends it, and what the service lacks. */
export const requestReasons = {
  BAD_FIELD: {
    status: 'INVALID_ARGUMENT',
    on: 'every',
    meaning:
      'A field or parameter is missing, unknown or out of range; the message names it. Correct what the message names; `metadata.field` has its path.',
  },
  BAD_JSON: {
    status: 'INVALID_ARGUMENT',
    on: 'body',
    meaning:
      'The body is no JSON in UTF-8, is nested too deep, or holds too many values. Check quotes and commas, and send `Content-Type: application/json`.',
  },
  BODY_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 413,
    on: 'body',
    meaning:
      'The body is larger than the limit. Send less at once; files go through `POST /v1/uploads`.',
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
    retry: 'yes',
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
    meaning:
      'There is no `Authorization: Bearer` header. Sign in with Firebase Auth and send `Authorization: Bearer <ID token>`.',
  },
  ID_TOKEN_EXPIRED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The ID token has expired; get a fresh one (`getIdToken(true)` of Firebase’s SDKs) and send the request again.',
  },
  ID_TOKEN_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The ID token is not valid for this service. Send an ID token, no custom token and no API key, of the Firebase project of this deployment.',
  },
  ID_TOKEN_REVOKED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The sign-in has been revoked, or the account is gone; sign in again.',
  },
  USER_DISABLED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The account is disabled; whoever runs the service can enable it in Firebase Auth.',
  },
  READ_TOKEN_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'declared',
    meaning:
      'The token of the webhook is missing, expired, forged or of another conversation. Send the `token` of the newest call of the webhook in `X-Recap-Read-Token`, for its conversation.',
  },
  APP_CHECK_MISSING: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The deployment asks for an App Check token in `X-Firebase-AppCheck`. Set App Check up in the app; Firebase’s SDKs give the token.',
  },
  APP_CHECK_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The App Check token is not valid for this service. Get a new one; check that the app is registered with App Check in the project of this deployment.',
  },
  APP_CHECK_REPLAYED: {
    status: 'UNAUTHENTICATED',
    on: 'declared',
    meaning:
      'The App Check token has been used; this request needs a limited-use token of its own.',
  },
  ROUTE_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: 'declared',
    meaning:
      'There is no such address. The message names the nearest one; `GET /v1/openapi.json` lists all.',
  },
  METHOD_NOT_ALLOWED: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 405,
    on: 'declared',
    meaning: 'The address takes other methods only; `Allow` lists them. Use one of them.',
  },
  BAD_REQUEST_LINE: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'The address or the Host header cannot be read. Check the address: spaces and special characters are percent-encoded.',
  },
  INTERNAL: {
    status: 'INTERNAL',
    on: 'every',
    meaning:
      'Something went wrong here; it is logged. Try again later; quote the header `x-request-id` when you ask for help.',
    retry: 'later',
  },
  STORE_REFUSED: {
    status: 'INTERNAL',
    on: 'user',
    meaning:
      'The service is not set up correctly. Whoever runs the service checks the rights of its account on Firestore (docs/operations.md).',
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
