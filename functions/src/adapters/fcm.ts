import { readBytes } from '#functions/lib/read-bytes.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { AccessTokens, Clock, Notifier, PushNotification } from '#shared/ports/ports.ts';
import { googleFetch } from './google-fetch.ts';
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

export interface FcmOptions {
  projectId: string;
  /** Where FCM is served, without a slash at the end. */
  baseUrl: string;
  accessTokens: AccessTokens;
  clock: Pick<Clock, 'now'>;
}

/** FCM answers in some hundred milliseconds; nobody waits for it. */
const SEND_TIMEOUT_MS = 10_000;
/** An error of FCM is below 2 KB. */
const ANSWER_MAX_BYTES = 16 * 1_024;

const unavailable = (problem: string, retryAfterMs?: number, cause?: unknown) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'NOTIFIER_UNAVAILABLE',
    message: `FCM ${problem}`,
    publicMessage: 'Notifications cannot be sent right now.',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause,
  });

const refused = (code: string) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'NOTIFICATION_REFUSED',
    publicMessage: 'Notifications are not set up correctly.',
    metadata: { code },
  });

/**
 * The message of FCM HTTP v1: on each platform the next one with the same key takes the place of this one, and
 * what could not be delivered in time is dropped.
 */
function messageOf(token: string, notification: PushNotification, now: Date) {
  const { title, body, data, collapseKey, ttlSeconds } = notification;
  const expiresSeconds = Math.floor(now.getTime() / 1_000) + ttlSeconds;
  return {
    token,
    notification: { title, body },
    data,
    android: {
      priority: 'HIGH',
      ttl: `${ttlSeconds}s`,
      collapse_key: collapseKey,
      notification: { tag: collapseKey },
    },
    apns: {
      headers: { 'apns-collapse-id': collapseKey, 'apns-expiration': String(expiresSeconds) },
      payload: { aps: { 'thread-id': collapseKey, sound: 'default' } },
    },
    webpush: {
      headers: { TTL: String(ttlSeconds), Topic: collapseKey, Urgency: 'high' },
      notification: { tag: collapseKey },
    },
  };
}

async function post(
  { projectId, baseUrl, accessTokens, clock }: FcmOptions,
  json: object,
  signal: AbortSignal,
): Promise<FcmVerdict> {
  const url = `${baseUrl}/v1/projects/${projectId}/messages:send`;
  const request = { method: 'POST', url, json, signal } as const;
  const { status, headers, body } = await googleFetch(accessTokens, request, SEND_TIMEOUT_MS);
  const text = body ? (await readBytes(body, ANSWER_MAX_BYTES)).toString('utf8') : '';
  return fcmVerdict({ status, body: text, retryAfter: headers.get('retry-after') }, clock.now());
}

/**
 * Firebase Cloud Messaging over its HTTP v1 API, 10 s for each try. The service account needs the permission
 * `cloudmessaging.messages.create`. No error names a token.
 */
export function createFcmNotifier(options: FcmOptions): Notifier {
  return {
    send: async ({ token, notification }, signal) => {
      const message = messageOf(token, notification, options.clock.now());
      let verdict: FcmVerdict;
      try {
        verdict = await post(options, { message }, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        throw unavailable('could not be reached', undefined, error);
      }
      switch (verdict.kind) {
        case 'sent':
        case 'gone':
          return verdict.kind;
        case 'unauthenticated':
          throw unavailable('does not take the access token');
        case 'later':
          throw unavailable('asks to be tried later', verdict.retryAfterMs);
        case 'refused':
          throw refused(verdict.code);
      }
    },
  };
}
