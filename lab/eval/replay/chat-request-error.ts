import { z } from 'zod';

const errorBodySchema = z.object({
  error: z.looseObject({
    message: z.string(),
    details: z
      .array(z.looseObject({ reason: z.string().optional(), retryDelay: z.string().optional() }))
      .default([]),
  }),
});

const retryableReasons = new Set([
  'TURN_IN_PROGRESS',
  'GUARD_LOST',
  'CONTEXT_WINDOW_WILL_OVERFLOW',
]);

/** The service refused, or could not be reached (`status` 0), or broke off its answer. */
export class ChatRequestError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(options: {
    status: number;
    reason: string;
    message: string;
    retryAfterMs?: number | undefined;
    cause?: unknown;
  }) {
    super(options.message, { cause: options.cause });
    this.name = 'ChatRequestError';
    this.status = options.status;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Whether sending the same message again can help. */
  get isRetryable(): boolean {
    return (
      this.status === 0 ||
      this.status === 429 ||
      this.status >= 500 ||
      retryableReasons.has(this.reason)
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a refusal: its reason from the error body, its delay from Retry-After. */
export async function requestErrorOf(response: Response): Promise<ChatRequestError> {
  const text = await response.text();
  const body = errorBodySchema.safeParse(parseJson(text));
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const reason = body.data?.error.details.find((detail) => detail.reason !== undefined)?.reason;
  const explanation = body.data?.error.message ?? text.slice(0, 200);
  return new ChatRequestError({
    status: response.status,
    reason: reason ?? `HTTP_${response.status}`,
    message: `${response.status} ${reason ?? ''} ${explanation}`,
    retryAfterMs: Number.isFinite(retryAfterSeconds) ? retryAfterSeconds * 1_000 : undefined,
  });
}
