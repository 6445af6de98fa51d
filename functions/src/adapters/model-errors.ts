import { z } from 'zod';
import { AppError } from '#shared/lib/errors.ts';
import { LONGEST_PAUSE_MS } from '#functions/models/model-health.ts';

/** Names a call in error messages. */
export interface ModelCall {
  operation: 'stream' | 'generate' | 'countTokens';
  model: string;
  promptId: string;
}

/** The model sent more than is read of one event or answer. Its message names the bound and holds no text. */
export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

const googleErrorSchema = z.looseObject({
  error: z.looseObject({
    code: z.number().optional(),
    status: z.string().optional(),
    message: z.string().optional(),
    details: z
      .array(
        z.looseObject({
          retryDelay: z.string().optional(),
          reason: z.string().optional(),
          fieldViolations: z.array(z.looseObject({ field: z.string().optional() })).optional(),
        }),
      )
      .optional(),
  }),
});
type GoogleError = z.infer<typeof googleErrorSchema>['error'];

function describe(call: ModelCall): string {
  return `${call.operation} with ${call.model} (${call.promptId})`;
}

/** The model was silent for longer than `timeoutMs`, or said so itself (504). */
export function timeoutError(call: ModelCall, waitedFor: string, timeoutMs?: number): AppError {
  const after = timeoutMs === undefined ? '' : ` after ${timeoutMs} ms`;
  return new AppError({
    reason: 'MODEL_TIMEOUT',
    message: `${describe(call)} timed out${after} waiting for ${waitedFor}`,
    publicMessage: 'The model took too long to answer. Try again.',
  });
}

/** The model cannot answer now: 5xx, network, a stream that broke off or cannot be read. */
export function overloadedError(call: ModelCall, problem: string, cause?: unknown): AppError {
  return new AppError({
    reason: 'MODEL_OVERLOADED',
    message: `${describe(call)} failed: ${problem}`,
    publicMessage: 'The model is not available right now. Try again in a moment.',
    retryAfterMs: 1_000,
    cause: cause === undefined ? undefined : scrub(cause),
  });
}

/** `retryAfterMs` only where RetryInfo says it. */
function quotaError(retryAfterMs: number | undefined): AppError {
  return new AppError({
    reason: 'MODEL_QUOTA',
    publicMessage: 'The model is at its limit of requests. Try again later.',
    retryAfterMs,
  });
}

/** Wording of the Gemini API and Vertex AI, with and without the numbers. */
const overflowText = /exceeds the maximum number of tokens allowed/i;
const overflowNumbers =
  /input token count\s*\(?([\d,]+)\)?.*?maximum number of tokens allowed\s*\(?([\d,]+)/is;

function overflowError(message: string): AppError {
  const found = overflowNumbers.exec(message);
  const [promptTokens, windowTokens] = [found?.[1], found?.[2]].map((number) =>
    number?.replaceAll(',', ''),
  );
  return new AppError({
    reason: 'MODEL_CONTEXT_OVERFLOW',
    publicMessage: 'The conversation is too long for the model.',
    metadata: {
      ...(promptTokens !== undefined && { promptTokens }),
      ...(windowTokens !== undefined && { windowTokens }),
    },
  });
}

/** The conversation names a model that Google does not have: only whoever wrote it there can mend it. */
const unknownModelError = (cause: unknown) =>
  new AppError({
    reason: 'MODEL_UNKNOWN',
    publicMessage: 'The model of this conversation is not known. Choose another `model`.',
    metadata: { field: 'model' },
    cause: scrub(cause),
  });

/**
 * Whether the deployment is at fault and no message: key, account or its rights. A wrong key is a 400 of the Gemini
 * API (`API_KEY_INVALID`), a missing right a 403.
 */
const isAboutAccess = ({ httpStatus, problem, modelReason }: Record<string, string>): boolean =>
  httpStatus === '401' ||
  httpStatus === '403' ||
  problem === 'credentials' ||
  modelReason?.startsWith('API_KEY_') === true;

/** Whoever runs the deployment takes longer than this to mend its access to the model, ms. */
const ACCESS_RETRY_MS = 120_000;

function refusedError(call: ModelCall, evidence: Record<string, string>, cause: unknown): AppError {
  const facts = Object.entries(evidence).map(([key, value]) => `${key}=${value}`);
  const isAccess = isAboutAccess(evidence);
  return new AppError({
    reason: 'MODEL_REFUSED_REQUEST',
    message: `${describe(call)} was refused: ${facts.join(' ')}`,
    publicMessage: isAccess
      ? 'The service is not allowed to ask the model. No message can change that; whoever runs it finds the cause in its log. Send the same message again once that is mended.'
      : 'The model did not accept the request. Send a text alone, or files of types that the model takes; the same again is refused again.',
    ...(isAccess && { retryAfterMs: ACCESS_RETRY_MS }),
    metadata: evidence,
    cause: scrub(cause),
  });
}

/** Google's durations are decimal seconds: `3s`, `0.250s`. Some are years long, and nobody shall wait for those. */
function readRetryDelayMs(error: GoogleError): number | undefined {
  const delay = error.details?.find((detail) => detail.retryDelay !== undefined)?.retryDelay;
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1];
  if (seconds === undefined) return undefined;
  return Math.min(LONGEST_PAUSE_MS, Math.ceil(Number(seconds) * 1_000));
}

/** The SDK's ApiError holds Google's body as JSON in its message, in a stream after a few words. */
function parseGoogleError(message: string): GoogleError {
  const start = message.search(/[{[]/);
  try {
    const parsed: unknown = start < 0 ? undefined : JSON.parse(message.slice(start));
    const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return googleErrorSchema.safeParse(body).data?.error ?? {};
  } catch {
    return {};
  }
}

const withCodeSchema = z.looseObject({ code: z.string() });

function networkCode(error: Error): string | undefined {
  return (
    withCodeSchema.safeParse(error).data?.code ?? withCodeSchema.safeParse(error.cause).data?.code
  );
}

/**
 * A cause that is safe to log. The originals hold prompt or answer text: ApiError the whole body, the
 * stream parser the chunk that it could not read, JSON.parse an excerpt.
 */
function scrub(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`a thrown ${typeof error}`);
  const scrubbed = new Error(networkCode(error) ?? 'message withheld');
  scrubbed.name = error.name;
  return scrubbed;
}

function translateApiError(call: ModelCall, httpStatus: number, error: Error): AppError {
  const google = parseGoogleError(error.message);
  if (httpStatus === 429) return quotaError(readRetryDelayMs(google));
  if (httpStatus === 404) return unknownModelError(error);
  if (httpStatus === 408 || httpStatus === 504) return timeoutError(call, `HTTP ${httpStatus}`);
  if (httpStatus >= 500 || httpStatus === 499) {
    return overloadedError(call, `HTTP ${httpStatus} ${google.status ?? ''}`.trim(), error);
  }
  if (overflowText.test(google.message ?? '')) return overflowError(google.message ?? '');
  const fields = google.details?.flatMap((detail) => detail.fieldViolations ?? []);
  const field = fields?.find((violation) => violation.field !== undefined)?.field;
  const reason = google.details?.find((detail) => detail.reason !== undefined)?.reason ?? '';
  const evidence = {
    httpStatus: String(httpStatus),
    ...(google.status !== undefined && { modelStatus: google.status }),
    ...(field !== undefined && { field }),
    // A name and no text.
    ...(/^[A-Z_]{1,63}$/.test(reason) && { modelReason: reason }),
  };
  return refusedError(call, evidence, error);
}

/** How other vendors word that a prompt is longer than the window; OpenAI and many after it: "maximum context length". */
const overflowWords =
  /(?:context|prompt|input|token)\b.{0,80}\b(?:too long|too large|exceed|maximum|limit)|\bmaximum (?:context|prompt|input)\b|context_length_exceeded/is;

/**
 * The AppError for an answer of another vendor than Google. An error within a stream has no status: it comes behind one of
 * 200, of a server that was willing and then could not.
 */
export function translateHttpError(
  call: ModelCall,
  failure: { httpStatus: number | 'in stream'; message: string; retryAfterMs?: number },
): AppError {
  const { httpStatus, message, retryAfterMs } = failure;
  if (httpStatus === 'in stream')
    return overflowWords.test(message)
      ? overflowError('')
      : overloadedError(call, 'the stream told of an error');
  if (httpStatus === 429)
    return quotaError(retryAfterMs && Math.min(LONGEST_PAUSE_MS, retryAfterMs));
  const isRefused = httpStatus === 400 || httpStatus === 413;
  if (isRefused && overflowWords.test(message)) return overflowError('');
  return translateApiError(call, httpStatus, new Error('withheld'));
}

/** The AppError for an event of a stream that says an error in the place of an answer; undefined for any other event. */
export function errorOfEvent(call: ModelCall, event: unknown): AppError | undefined {
  // Almost none is one, and to be refused by a schema costs more than to be read by another.
  if (typeof event !== 'object' || event === null || !('error' in event)) return undefined;
  const code = googleErrorSchema.safeParse(event).data?.error.code ?? 0;
  if (code < 400 || code > 599) return undefined;
  return translateApiError(call, code, new Error(JSON.stringify(event)));
}

/** What the SDK and fetch say when an answer breaks off or cannot be read. */
const brokenAnswer = /^(?:fetch failed|terminated|Response body is empty)/;

function isBrokenAnswer(error: Error): boolean {
  const code = networkCode(error) ?? '';
  if (/^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code)) return true;
  if (error instanceof SyntaxError || error.name === 'AbortError') return true;
  return brokenAnswer.test(error.message);
}

/**
 * The AppError for whatever a call threw; AppErrors pass. Messages and causes hold no prompt and no
 * answer text. What is neither Google's error nor a broken connection is our own defect, not retryable, or missing
 * credentials.
 */
export function translateError(call: ModelCall, error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (!(error instanceof Error)) return refusedError(call, { problem: 'unknown' }, error);
  if (error.name === 'ApiError' && 'status' in error && typeof error.status === 'number') {
    return translateApiError(call, error.status, error);
  }
  if (error instanceof AnswerTooLarge) return overloadedError(call, error.message);
  if (isBrokenAnswer(error)) {
    const problem = networkCode(error) ?? 'the answer broke off or could not be read';
    return overloadedError(call, problem, error);
  }
  const isCredentials = error.message.startsWith('Could not load the default credentials');
  return refusedError(call, { problem: isCredentials ? 'credentials' : error.name }, error);
}
