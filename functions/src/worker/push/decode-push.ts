import { TRACE_ATTRIBUTE } from '#functions/lib/trace.ts';
import { workerEventSchema, type WorkerEvent } from '#shared/compaction/event.ts';
import { readPublishedEvent, type PublishedEvent } from '#shared/notification/published-event.ts';
import { z } from 'zod';

/** A compaction request is a few hundred bytes; more than this is none. */
export const MAX_PUSH_BYTES = 64 * 1024;

/** What Pub/Sub posts; fields that are not needed are left unread. */
const pushSchema = z.object({
  message: z.object({
    data: z.base64(),
    messageId: z.string(),
    /** What is no text is no attribute of ours. */
    attributes: z.record(z.string(), z.unknown()).nullish(),
  }),
  /** Only with a dead-letter topic, and never from the emulator. */
  deliveryAttempt: z.number().int().positive().optional(),
});

/** How the bus names a delivery; for logs. */
export interface Delivery {
  messageId: string;
  deliveryAttempt?: number;
}

interface Carried {
  delivery: Delivery;
  /** The trace of the request that published it, as it was written there. */
  traceparent?: string;
}

export type DecodedPush =
  | (Carried & { kind: 'event'; event: WorkerEvent })
  /** Of the events topic: something has happened. */
  | (Carried & { kind: 'told'; event: PublishedEvent })
  /** Will never be readable: to be logged and acknowledged, or it comes back for ever. */
  | { kind: 'malformed'; problem: string };

const malformed = (problem: string): DecodedPush => ({ kind: 'malformed', problem });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Names the fields that are wrong and never their values. */
const fieldsOf = (error: z.ZodError) =>
  error.issues.map(({ path, code }) => `${path.join('.')} (${code})`).join(', ');

/**
 * Reads the body of a Pub/Sub push: events of the worker's topic have a `kind` or none, those of the events topic a
 * `type`. Messages without data, of an unknown kind or too large are malformed.
 * Never throws.
 */
export function decodePush(body: Uint8Array): DecodedPush {
  if (body.byteLength > MAX_PUSH_BYTES)
    return malformed(`${body.byteLength} bytes are more than ${MAX_PUSH_BYTES}`);
  const push = pushSchema.safeParse(parseJson(Buffer.from(body).toString('utf8')));
  if (!push.success) return malformed(`no push: ${fieldsOf(push.error)}`);
  const { message, deliveryAttempt } = push.data;
  const data = parseJson(Buffer.from(message.data, 'base64').toString('utf8'));
  const delivery = {
    messageId: message.messageId,
    ...(deliveryAttempt !== undefined && { deliveryAttempt }),
  };
  const traceparent = message.attributes?.[TRACE_ATTRIBUTE];
  const carried = { delivery, ...(typeof traceparent === 'string' && { traceparent }) };
  const told = readPublishedEvent(data);
  if (told.success) return { kind: 'told', event: told.data, ...carried };
  const event = workerEventSchema.safeParse(data);
  if (!event.success) return malformed(`no event of the worker: ${fieldsOf(event.error)}`);
  return { kind: 'event', event: event.data, ...carried };
}
