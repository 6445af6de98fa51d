import { z } from 'zod';

/** A longer wait that FCM asks for is cut: the next delivery asks again. */
const RETRY_AFTER_MAX_MS = 600_000;
/** What FCM's documentation asks for where a 429 names no time. */
const QUOTA_RETRY_AFTER_MS = 60_000;

/** `google.rpc.Status` as FCM answers it; fields that are not needed are left unread. */
const answerSchema = z.object({
  error: z.object({
    message: z.string().optional(),
    details: z
      .array(
        z.looseObject({
          errorCode: z
            .string()
            .regex(/^[A-Z_]{1,40}$/)
            .optional(),
          fieldViolations: z.array(z.looseObject({ field: z.string().optional() })).optional(),
        }),
      )
      .optional(),
  }),
});

/** What an answer of FCM means for a device. */
export type FcmVerdict =
  | { kind: 'sent' }
  /** The token will never be good again. */
  | { kind: 'gone' }
  /** The access token is not taken. */
  | { kind: 'unauthenticated' }
  | { kind: 'later'; retryAfterMs: number | undefined }
  /** Trying again changes nothing: what is wrong is the deployment or the message. */
  | { kind: 'refused'; code: string };

function readError(body: string) {
  try {
    return answerSchema.parse(JSON.parse(body)).error;
  } catch {
    return undefined;
  }
}

/** `Retry-After` in seconds or as a date, in ms from `now`. */
function waitMs(header: string | null, now: Date): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now.getTime() : seconds * 1_000;
  return Number.isNaN(ms) ? undefined : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms));
}

/** Whether a 400 is about the token, which a device can be rid of, and not about what we sent. */
function isAboutToken(error: ReturnType<typeof readError>): boolean {
  const violated = error?.details?.flatMap(({ fieldViolations = [] }) => fieldViolations) ?? [];
  if (violated.length > 0) return violated.every(({ field }) => field === 'message.token');
  return /registration token/i.test(error?.message ?? '');
}

/**
 * Reads an answer of `messages:send`. A token counts as gone with UNREGISTERED, and with an INVALID_ARGUMENT that
 * names it; a SENDER_ID_MISMATCH may be a wrong FCM_PROJECT, which must not cost every device.
 */
export function fcmVerdict(
  answer: { status: number; body: string; retryAfter: string | null },
  now: Date,
): FcmVerdict {
  const { status, body, retryAfter } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 401) return { kind: 'unauthenticated' };
  const error = readError(body);
  const codes = error?.details?.flatMap(({ errorCode }) => errorCode ?? []) ?? [];
  if (status === 404 && codes.includes('UNREGISTERED')) return { kind: 'gone' };
  if (status === 400 && isAboutToken(error)) return { kind: 'gone' };
  const asked = waitMs(retryAfter, now);
  if (status === 429) return { kind: 'later', retryAfterMs: asked ?? QUOTA_RETRY_AFTER_MS };
  if (status >= 500 || status === 408) return { kind: 'later', retryAfterMs: asked };
  return { kind: 'refused', code: codes[0] ?? `HTTP_${status}` };
}
