/** Body of an error of the API, as AIP-193 has it; anything else than this is nothing that Recap said. */
interface ErrorBody {
  error?: { message?: string; details?: readonly { reason?: string }[] };
}

/** A request that was refused or did not get through. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP code; 0: no answer came. */
  readonly code: number;
  /** UPPER_SNAKE as in docs/reference/api.md; `OFFLINE` where no answer came. */
  readonly reason: string;
  /** What `Retry-After` said, milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(found: {
    code: number;
    reason: string;
    message: string;
    retryAfterMs?: number | undefined;
    cause?: unknown;
  }) {
    super(found.message, { cause: found.cause });
    this.code = found.code;
    this.reason = found.reason;
    this.retryAfterMs = found.retryAfterMs;
  }

  /** Whether the same request may succeed a moment later (docs/guides/clients.md, “Send, and send again”). */
  get isPassing(): boolean {
    return this.code === 0 || this.code === 408 || [502, 503, 504].includes(this.code);
  }
}

const retryAfterMs = (response: Response): number | undefined => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
};

/** The error that a response tells of, whoever wrote it. */
export async function readError(response: Response): Promise<ApiError> {
  const text = await response.text();
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy in between answers in HTML.
  }
  return new ApiError({
    code: response.status,
    reason: body.error?.details?.find(({ reason }) => reason)?.reason ?? `HTTP_${response.status}`,
    message: body.error?.message ?? `HTTP ${response.status}`,
    retryAfterMs: retryAfterMs(response),
  });
}

/** No answer came: no network, or a server that is not there. */
export const offline = (cause: unknown): ApiError =>
  new ApiError({ code: 0, reason: 'OFFLINE', message: 'offline', cause });
