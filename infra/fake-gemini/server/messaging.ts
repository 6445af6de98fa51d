import { z } from 'zod';

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

interface Sent {
  authorization: string | undefined;
  rawBody: string;
}

interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: object;
}

export interface Messaging {
  send(sent: Sent): Answer;
  /** The newest 200 messages that were taken, oldest first. */
  sent(): readonly FcmMessage[];
  /** How often it was asked, refusals included. */
  calls(): number;
  /** The next messages to a token, or to any, are refused like this, one after the other. */
  refuse(fault: MessagingFault, token?: string): void;
  /** This installation has gone: UNREGISTERED from now on. */
  unregister(token: string): void;
  /** Access tokens that are not taken any more. */
  revoke(accessToken: string): void;
  clear(): void;
}

const statusNames: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [429, 'RESOURCE_EXHAUSTED'],
  [500, 'INTERNAL'],
  [503, 'UNAVAILABLE'],
]);

function errorAnswer(fault: MessagingFault): Answer {
  const { status, code, message = 'The stand-in refused the message.', retryAfter } = fault;
  const type = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';
  const details = code === undefined ? [] : [{ '@type': type, errorCode: code }];
  return {
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    body: { error: { code: status, message, status: statusNames.get(status), details } },
  };
}

const unregistered: MessagingFault = {
  status: 404,
  code: 'UNREGISTERED',
  message: 'Requested entity was not found.',
};
const unauthenticated: MessagingFault = {
  status: 401,
  message: 'Request had invalid authentication credentials.',
};

export const isSendAddress = (path: string): boolean =>
  /^\/v1\/projects\/[^/]+\/messages:send$/.test(path);

function readMessage(rawBody: string): FcmMessage | undefined {
  try {
    return bodySchema.safeParse(JSON.parse(rawBody)).data?.message;
  } catch {
    return undefined;
  }
}

export function createMessaging(): Messaging {
  const gone = new Set<string>();
  const revoked = new Set<string>();
  let taken: FcmMessage[] = [];
  let faults: { fault: MessagingFault; token: string | undefined }[] = [];
  let calls = 0;

  const takeFault = (token: string): MessagingFault | undefined => {
    const index = faults.findIndex((queued) => (queued.token ?? token) === token);
    return index === -1 ? undefined : faults.splice(index, 1)[0]?.fault;
  };

  return {
    send: ({ authorization, rawBody }) => {
      calls += 1;
      const accessToken = authorization?.replace(/^Bearer /, '') ?? '';
      if (accessToken === '' || revoked.has(accessToken)) return errorAnswer(unauthenticated);
      const message = readMessage(rawBody);
      if (!message) return errorAnswer({ status: 400, message: 'Invalid JSON payload received.' });
      const fault = gone.has(message.token) ? unregistered : takeFault(message.token);
      if (fault) return errorAnswer(fault);
      taken = [...taken, message].slice(-KEPT);
      return { status: 200, headers: {}, body: { name: `projects/p/messages/${calls}` } };
    },
    sent: () => taken,
    calls: () => calls,
    refuse: (fault, token) => void faults.push({ fault, token }),
    unregister: (token) => void gone.add(token),
    revoke: (accessToken) => void revoked.add(accessToken),
    clear: () => {
      taken = [];
      faults = [];
      calls = 0;
    },
  };
}
