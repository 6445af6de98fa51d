/** gRPC status names that Recap answers with; the HTTP code of each stands in `wire/errors/error-body.ts`. */
export const errorStatuses = [
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'UNAUTHENTICATED',
  'NOT_FOUND',
  'ABORTED',
  'ALREADY_EXISTS',
  'RESOURCE_EXHAUSTED',
  'CANCELLED',
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
] as const;
export type ErrorStatus = (typeof errorStatuses)[number];

interface AppErrorOptions {
  status: ErrorStatus;
  /** UPPER_SNAKE reason from the error table of the wire, e.g. `TURN_IN_PROGRESS`. */
  reason: string;
  /** For logs: what was attempted, on which id, with which numbers. Never the user's text. */
  message: string;
  /** The only text that leaves the process: names the field or limit and the remedy. */
  publicMessage: string;
  /** Whether the same request may succeed later. Default false. */
  retryable?: boolean;
  /** How long the caller should wait before the next try, in milliseconds. */
  retryAfterMs?: number;
  /** Evidence for machines: becomes ErrorInfo.metadata, so it must be safe to show. */
  metadata?: Readonly<Record<string, string>>;
  /** Overrides the HTTP code of the status where one status serves several codes (413 is an INVALID_ARGUMENT). */
  httpStatus?: number;
  cause?: unknown;
}

/** Base of every error that Recap throws on purpose. Anything else is a defect and is answered as INTERNAL. */
export class AppError extends Error {
  readonly status: ErrorStatus;
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly publicMessage: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly httpStatus: number | undefined;

  constructor(options: AppErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = new.target.name;
    this.status = options.status;
    this.reason = options.reason;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.publicMessage = options.publicMessage;
    this.metadata = options.metadata ?? {};
    this.httpStatus = options.httpStatus;
  }
}

/** The same error in other words for its reader; `evidence` is shown beside its own. */
export function reworded(
  error: AppError,
  publicMessage: string,
  evidence?: AppErrorOptions['metadata'],
): AppError {
  const { status, reason, message, retryable, retryAfterMs, metadata, httpStatus } = error;
  return new AppError({
    status,
    reason,
    message,
    publicMessage,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    metadata: { ...metadata, ...evidence },
    ...(httpStatus !== undefined && { httpStatus }),
    cause: error,
  });
}

/**
 * A guard of a commit did not hold: a created document existed, or an updated one was missing or had
 * another update time. Nothing of the commit was applied by *this* call; after a lost reply it may
 * have been applied by an earlier try, so the caller reads and looks for its own nonce.
 */
export class GuardLostError extends AppError {
  /** Of the commit, or those of its guards that did not hold. */
  readonly paths: readonly string[];

  /** `tries`: how often it was made anew and lost again; absent: once. */
  constructor(options: { paths: readonly string[]; tries?: number; cause?: unknown }) {
    const { paths, tries } = options;
    const often = tries === undefined ? '' : ` ${tries} times in a row`;
    super({
      status: 'ABORTED',
      reason: 'GUARD_LOST',
      message: `commit of ${paths.length} writes lost a guard${often} (${paths.slice(0, 4).join(', ')})`,
      publicMessage: 'Another request changed the same conversation. Try again.',
      retryable: true,
      cause: options.cause,
    });
    this.paths = paths;
  }
}

/** The store did not answer in time or at all. A commit that ends so may have been applied. */
export class StoreUnavailableError extends AppError {
  constructor(options: { operation: string; cause?: unknown }) {
    super({
      status: 'UNAVAILABLE',
      reason: 'STORE_UNAVAILABLE',
      message: `the store did not answer: ${options.operation}`,
      publicMessage: 'The service is busy. Try again in a moment.',
      retryable: true,
      retryAfterMs: 1_000,
      cause: options.cause,
    });
  }
}

/**
 * Whether a commit that ended so may stand all the same, by this try or by one before it whose reply was lost:
 * who made it reads and looks for its own writes.
 */
export const mayBeCommitted = (error: unknown): boolean =>
  error instanceof GuardLostError || error instanceof StoreUnavailableError;

/** A write that the store would refuse for ever: too large, or with a value it cannot hold. */
export class InvalidWriteError extends AppError {
  constructor(options: { path: string; problem: string; cause?: unknown }) {
    super({
      status: 'INVALID_ARGUMENT',
      reason: 'WRITE_REFUSED',
      message: `the store cannot hold ${options.path}: ${options.problem}`,
      publicMessage: 'The message is too large or holds a value that cannot be stored.',
      cause: options.cause,
    });
  }
}
