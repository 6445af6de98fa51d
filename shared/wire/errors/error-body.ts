import type { ErrorStatus } from '#shared/lib/error-reasons.ts';
import { AppError } from '#shared/lib/errors.ts';

/** HTTP code of each status, as google.rpc.Code maps them. */
export const httpStatusByStatus: Readonly<Record<ErrorStatus, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

/**
 * Conflicts that an immediate second try meets again. Clients that repeat every 409 by themselves
 * (the OpenAI SDK: three times) heed the header `x-should-retry`.
 */
const hopelessConflicts: ReadonlySet<string> = new Set([
  'TURN_IN_PROGRESS',
  'COMPACTION_RUNNING',
  'IDEMPOTENCY_KEY_REUSED',
]);

/**
 * A quota that returns later than this is none to wait for, ms: a limit of the day, not of the minute. The OpenAI SDKs
 * heed no longer wait either.
 */
export const QUOTA_WAIT_MAX_MS = 60_000;

/** Whether nobody should wait for what a request lacks, and clients that repeat by themselves give up. */
const isFinal = ({ status, retryAfterMs = 0 }: AppError): boolean =>
  status === 'RESOURCE_EXHAUSTED' && retryAfterMs > QUOTA_WAIT_MAX_MS;

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';
const HELP = 'type.googleapis.com/google.rpc.Help';
const DOMAIN = 'recap';

type ErrorDetail =
  | {
      '@type': typeof ERROR_INFO;
      reason: string;
      domain: string;
      metadata: Readonly<Record<string, string>>;
    }
  | { '@type': typeof RETRY_INFO; retryDelay: string }
  | { '@type': typeof HELP; links: { description: string; url: string }[] };

/** The AIP-193 body of an error. */
interface ErrorBody {
  error: { code: number; status: ErrorStatus; message: string; details: ErrorDetail[] };
}

export interface ErrorReply {
  httpStatus: number;
  headers: Record<string, string>;
  body: ErrorBody;
}

/** An error of which nothing may be told: a defect, or what an SDK threw past its adapter. */
const unknownError = (cause: unknown) =>
  new AppError({
    reason: 'INTERNAL',
    message: 'an error that is not an AppError reached the edge',
    publicMessage: 'Something went wrong here. The error is logged; try again later.',
    cause,
  });

const metadataOf = (error: AppError): Readonly<Record<string, string>> =>
  isFinal(error) ? { ...error.metadata, final: 'true' } : error.metadata;

const help = (reason: string, docsUrl: string): ErrorDetail => ({
  '@type': HELP,
  links: [{ description: `What ${reason} means and what helps`, url: `${docsUrl}/${reason}` }],
});

const isHopeless = (error: AppError, httpStatus: number) =>
  isFinal(error) || (httpStatus === 409 && hopelessConflicts.has(error.reason));

function errorHeaders(error: AppError, httpStatus: number): Record<string, string> {
  return {
    ...(error.retryAfterMs !== undefined && {
      'retry-after': String(Math.ceil(error.retryAfterMs / 1_000)),
    }),
    ...(isHopeless(error, httpStatus) && { 'x-should-retry': 'false' }),
    // RFC 6750, section 3: never the scheme alone. Foundation of Swift on Linux crashes over that.
    ...(httpStatus === 401 && { 'www-authenticate': 'Bearer realm="recap"' }),
    ...(httpStatus === 405 && { allow: error.metadata['allow'] ?? '' }),
  };
}

/**
 * What a caller sees of an error: HTTP code, headers, and an AIP-193 body with ErrorInfo, RetryInfo where a
 * wait helps (`final` in the metadata where that is too long to be waited for), and Help with a link below `docsUrl`, the address that reasons are explained under, if there is one.
 * Only `publicMessage`, `reason` and `metadata` leave; anything but an AppError becomes a bare 500. `Retry-After`
 * is in whole seconds, rounded up.
 */
export function errorReply(thrown: unknown, docsUrl?: string): ErrorReply {
  const error = thrown instanceof AppError ? thrown : unknownError(thrown);
  const httpStatus = error.httpStatus ?? httpStatusByStatus[error.status];
  const details: ErrorDetail[] = [
    { '@type': ERROR_INFO, reason: error.reason, domain: DOMAIN, metadata: metadataOf(error) },
  ];
  if (error.retryAfterMs !== undefined)
    details.push({ '@type': RETRY_INFO, retryDelay: `${error.retryAfterMs / 1_000}s` });
  if (docsUrl !== undefined) details.push(help(error.reason, docsUrl));
  return {
    httpStatus,
    headers: errorHeaders(error, httpStatus),
    body: {
      error: { code: httpStatus, status: error.status, message: error.publicMessage, details },
    },
  };
}
