interface ErrorDetail {
  reason?: string;
  metadata?: Readonly<Record<string, string>>;
  retryDelay?: string;
}

interface ErrorBody {
  error?: { message?: string; details?: readonly ErrorDetail[] };
}

/** Codes after which the same request may go through. */
const PASSING_CODES = [0, 401, 408, 500, 502, 503, 504];

/** Why a call has no answer: decide by `reason`, show `message`. */
export class RecapError extends Error {
  override readonly name = 'RecapError';
  /** HTTP code; 0: no connection. */
  readonly code: number;
  /** UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection. */
  readonly reason: string;
  /** How long the service asks to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** Of a limit of the day: when it is over. */
  readonly resetTime: string | undefined;
  /** Whether the same may go through after a pause of seconds. */
  readonly isPassing: boolean;

  constructor(given: {
    code: number;
    reason: string;
    message: string;
    isFinal?: boolean;
    retryAfterMs?: number | undefined;
    resetTime?: string | undefined;
    cause?: unknown;
  }) {
    super(given.message, { cause: given.cause });
    this.code = given.code;
    this.reason = given.reason;
    this.retryAfterMs = given.retryAfterMs;
    this.resetTime = given.resetTime;
    const isLimit = given.code === 429 && given.isFinal !== true;
    this.isPassing = isLimit || PASSING_CODES.includes(given.code);
  }
}

/** No answer came: no network, a server that is not there, or a connection that broke. */
export const offline = (cause: unknown): RecapError =>
  cause instanceof RecapError
    ? cause
    : new RecapError({ code: 0, reason: 'OFFLINE', message: 'No connection.', cause });

const secondsMs = (text: string | null | undefined): number | undefined => {
  const seconds = Number.parseFloat(text ?? '');
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
};

/** The error that a reply tells of, whoever wrote it. */
export function readError(
  code: number,
  text: string,
  header: (name: string) => string | null,
): RecapError {
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy in between answers in HTML.
  }
  const details = body.error?.details ?? [];
  const metadata = details.find((detail) => detail.metadata)?.metadata;
  const retryDelay = details.find((detail) => detail.retryDelay)?.retryDelay;
  return new RecapError({
    code,
    reason: details.find(({ reason }) => reason)?.reason ?? `HTTP_${code}`,
    message: body.error?.message ?? `HTTP ${code}`,
    isFinal: header('x-should-retry') === 'false' || metadata?.['final'] === 'true',
    retryAfterMs: secondsMs(header('retry-after')) ?? secondsMs(retryDelay),
    resetTime: metadata?.['resetTime'],
  });
}
