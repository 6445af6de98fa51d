import { readBytes } from '#functions/lib/read-bytes.ts';
import { AppError } from '#shared/errors.ts';
import type { AccessTokens, Clock, Notifier, PushNotification } from '#shared/ports/ports.ts';
import { fcmVerdict, type FcmVerdict } from './fcm-verdict.ts';

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
    retryable: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause,
  });

const refused = (code: string) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'NOTIFICATION_REFUSED',
    message: `FCM refused a notification with ${code}`,
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
  { projectId, baseUrl, clock }: FcmOptions,
  { accessToken, body }: { accessToken: string; body: string },
  signal: AbortSignal,
): Promise<FcmVerdict> {
  const response = await fetch(`${baseUrl}/v1/projects/${projectId}/messages:send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]),
  });
  const text = response.body
    ? (await readBytes(response.body, ANSWER_MAX_BYTES)).toString('utf8')
    : '';
  const { status, headers } = response;
  return fcmVerdict({ status, body: text, retryAfter: headers.get('retry-after') }, clock.now());
}

/** Sends once more with another access token where the first one is not taken. */
async function postAuthorized(
  options: FcmOptions,
  body: string,
  signal: AbortSignal,
): Promise<FcmVerdict> {
  const { accessTokens } = options;
  const accessToken = await accessTokens.get();
  const verdict = await post(options, { accessToken, body }, signal);
  if (verdict.kind !== 'unauthenticated') return verdict;
  const renewed = await accessTokens.renew(accessToken);
  return post(options, { accessToken: renewed, body }, signal);
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
        verdict = await postAuthorized(options, JSON.stringify({ message }), signal);
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
