import { z } from 'zod';
import { readJson } from './request.ts';

/*
 * A fake of Firebase Cloud Messaging, HTTP v1: `POST /v1/projects/{p}/messages:send`. It checks what FCM
 * checks of a message that we send, keeps the newest, and refuses as it is told.
 */

const KEPT = 200;

/** What we send, field for field: a name that FCM does not have is refused by it as well. */
const bodySchema = z.strictObject({
  message: z.strictObject({
    token: z.string(),
    notification: z.strictObject({ title: z.string(), body: z.string() }),
    data: z.record(
      z.string().regex(/^(?!from$|message_type$|google\.|gcm\.)/, 'is a reserved key'),
      z.string(),
    ),
    android: z.strictObject({
      priority: z.enum(['NORMAL', 'HIGH']),
      ttl: z.string().regex(/^\d+s$/),
      collapse_key: z.string(),
      notification: z.strictObject({ tag: z.string() }),
    }),
    apns: z.strictObject({
      headers: z.strictObject({
        'apns-collapse-id': z.string().max(64),
        'apns-expiration': z.string().regex(/^\d+$/),
      }),
      payload: z.object({ aps: z.object({}) }),
    }),
    webpush: z.strictObject({
      headers: z.strictObject({
        TTL: z.string().regex(/^\d+$/),
        Topic: z.string().regex(/^[\w-]{1,32}$/),
        Urgency: z.enum(['very-low', 'low', 'normal', 'high']),
      }),
      notification: z.strictObject({ tag: z.string() }),
    }),
  }),
});
type FcmMessage = z.infer<typeof bodySchema>['message'];

/** How one message is refused. */
interface MessagingFault {
  status: number;
  /** `errorCode` of FCM's error details. */
  code?: string;
  message?: string;
  /** Seconds, or a date. */
  retryAfter?: string;
}

interface Answer {
  status: number;
  retryAfter?: string | undefined;
  body: object;
}

function refusal({ status, code, message = 'Refused.', retryAfter }: MessagingFault): Answer {
  const type = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';
  const details = code === undefined ? [] : [{ '@type': type, errorCode: code }];
  return { status, retryAfter, body: { error: { code: status, message, details } } };
}

export const isSendAddress = (path: string): boolean =>
  /^\/v1\/projects\/[^/]+\/messages:send$/.test(path);

export class Messaging {
  readonly #revoked = new Set<string>();
  #sent: FcmMessage[] = [];
  #faults: { fault: MessagingFault; token: string | undefined }[] = [];
  #calls = 0;

  send(authorization: string | undefined, rawBody: string): Answer {
    this.#calls += 1;
    const accessToken = authorization?.replace(/^Bearer /, '') ?? '';
    if (accessToken === '' || this.#revoked.has(accessToken)) return refusal({ status: 401 });
    const message = readJson(bodySchema, rawBody)?.message;
    if (!message) return refusal({ status: 400, message: 'Invalid JSON payload received.' });
    const { token } = message;
    const index = this.#faults.findIndex((queued) => (queued.token ?? token) === token);
    const [queued] = index === -1 ? [] : this.#faults.splice(index, 1);
    if (queued) return refusal(queued.fault);
    this.#sent = [...this.#sent, message].slice(-KEPT);
    return { status: 200, body: { name: `projects/p/messages/${this.#calls}` } };
  }

  /** The newest 200 messages that were taken, oldest first. */
  sent(): readonly FcmMessage[] {
    return this.#sent;
  }

  /** How often it was asked, refusals included. */
  calls(): number {
    return this.#calls;
  }

  /** The next messages to a token, or to any, are refused like this, one after the other. */
  refuse(fault: MessagingFault, token?: string): void {
    this.#faults.push({ fault, token });
  }

  /** This access token is not taken any more. */
  revoke(accessToken: string): void {
    this.#revoked.add(accessToken);
  }

  clear(): void {
    this.#sent = [];
    this.#faults = [];
    this.#calls = 0;
  }
}
