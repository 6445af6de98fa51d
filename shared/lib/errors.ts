import {
  errorReasonRows,
  type ErrorReasonName,
  type errorReasons,
  type ErrorStatus,
  retryAdvice,
} from './error-reasons.ts';

/** Reasons whose status the table tells. */
type SettledReason = {
  [Name in ErrorReasonName]: (typeof errorReasons)[Name] extends { otherStatus: ErrorStatus }
    ? never
    : Name;
}[ErrorReasonName];

/** UPPER_SNAKE, e.g. `TURN_IN_PROGRESS`; one that is not in the table, or has two statuses there, with its status. */
type Reason =
  | { reason: SettledReason; status?: undefined }
  | { reason: string; status: ErrorStatus };

interface ErrorTexts {
  /**
   * For the log, which has it of failures alone (HTTP 500 and above): what was attempted, on which id, with which numbers.
   * Never the user's text. Default: the reason, which is all that is logged of a refusal.
   */
  message?: string;
  /** The only text that leaves the process: names the field or limit and the remedy. */
  publicMessage: string;
  /** Whether the same request may succeed later. Default: where it says when, and where the table advises it. */
  retryable?: boolean;
  /** How long the caller should wait before the next try, in milliseconds. */
  retryAfterMs?: number;
  /** Evidence for machines: becomes ErrorInfo.metadata, so it must be safe to show. */
  metadata?: Readonly<Record<string, string>>;
  cause?: unknown;
}

type AppErrorOptions = ErrorTexts & Reason;

const rowByReason = new Map(errorReasonRows.map((row) => [row.reason, row]));

/** Base of every error that Recap throws on purpose. Anything else is a defect and is answered as INTERNAL. */
export class AppError extends Error {
  readonly status: ErrorStatus;
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly publicMessage: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Where it is not the usual one of the status. */
  readonly httpStatus: number | undefined;

  constructor(options: AppErrorOptions) {
    super(options.message ?? options.reason, { cause: options.cause });
    this.name = new.target.name;
    const row = rowByReason.get(options.reason);
    this.status = options.status ?? row?.status ?? 'INTERNAL';
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable =
      options.retryable ??
      (options.retryAfterMs !== undefined || retryAdvice(row, this.status) === 'yes');
    this.publicMessage = options.publicMessage;
    this.metadata = options.metadata ?? {};
    this.httpStatus = row?.httpStatus;
  }
}

/** The same error in other words for its reader; `evidence` is shown beside its own. */
export function reworded(
  error: AppError,
  publicMessage: string,
  evidence?: AppErrorOptions['metadata'],
): AppError {
  const { status, reason, message, retryable, retryAfterMs, metadata } = error;
  return new AppError({
    status,
    reason,
    message,
    publicMessage,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    metadata: { ...metadata, ...evidence },
    cause: error,
  });
}

/** 400: a request that cannot be served for one of its fields. */
export const badField = (field: string, publicMessage: string): AppError =>
  new AppError({ reason: 'BAD_FIELD', publicMessage, metadata: { field } });

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
      reason: 'GUARD_LOST',
      message: `commit of ${paths.length} writes lost a guard${often} (${paths.slice(0, 4).join(', ')})`,
      publicMessage: 'Another request changed the same conversation. Try again.',
      cause: options.cause,
    });
    this.paths = paths;
  }
}

/** The store did not answer in time or at all. A commit that ends so may have been applied. */
export class StoreUnavailableError extends AppError {
  constructor(options: { operation: string; cause?: unknown }) {
    super({
      reason: 'STORE_UNAVAILABLE',
      message: `the store did not answer: ${options.operation}`,
      publicMessage: 'The service is busy. Try again in a moment.',
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
      reason: 'WRITE_REFUSED',
      message: `the store cannot hold ${options.path}: ${options.problem}`,
      publicMessage: 'The message is too large or holds a value that cannot be stored.',
      cause: options.cause,
    });
  }
}
