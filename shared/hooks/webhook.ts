import { PINS_MAX } from '#shared/conversation/context/pins.ts';
import { z } from 'zod';

/** Code of an operator that runs at a certain point: in process, or behind a signed webhook. */
export interface Hook<Event, Answer> {
  name: string;
  /** A required hook that fails stops what it is asked about; any other failure is logged. Default false. */
  required?: boolean;
  run(event: Event, signal: AbortSignal): Promise<Answer>;
}

/** Webhooks of one level: each may take ten seconds of every compaction, and is called with every message. */
const WEBHOOKS_MAX = 5;

/** Bytes of an answer; what a hook may pin is far below. */
export const WEBHOOK_ANSWER_MAX_BYTES = 64 * 1024;

const webhookEvents = ['preCompact', 'postCompact', 'beforeTurn'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** An address that is told of compactions and messages. Which hosts may be called is the deployment's decision. */
const webhookSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2_000),
  events: z
    .array(z.enum(webhookEvents))
    .min(1)
    .max(webhookEvents.length)
    .describe(
      'preCompact: may veto, pin and tell the summariser something; postCompact: is told how it ended; beforeTurn: may refuse a message, and add what the model is to know.',
    ),
  required: z
    .boolean()
    .optional()
    .describe(
      'true: a call that fails stops the compaction (preCompact) or refuses the message (beforeTurn). Default false.',
    ),
});
export type Webhook = z.infer<typeof webhookSchema>;

export const webhooksSchema = z.array(webhookSchema).max(WEBHOOKS_MAX);

/** What a preCompact webhook may answer; fields that this version does not know are dropped. */
export const webhookAnswerSchema = z.object({
  veto: z.boolean().optional(),
  pins: z
    .array(z.object({ id: z.string(), text: z.string() }))
    .max(PINS_MAX)
    .optional(),
  /** Said to the summariser as data. */
  note: z.string().optional(),
});

/** The hosts that may be called: `hooks.example.com`, with `:port` where it is not the usual one. */
export interface WebhookHosts {
  hosts: readonly string[];
  /** Unencrypted calls, for tests on the own machine. */
  allowsHttp: boolean;
}

function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether an address may be called: https, a host of the list by its exact name, no user name. Private
 * addresses are called only where the list names them.
 */
export function isAllowedWebhook(address: string, { hosts, allowsHttp }: WebhookHosts): boolean {
  const url = readUrl(address);
  if (!url || url.username !== '' || url.password !== '') return false;
  const isEncrypted = url.protocol === 'https:' || (allowsHttp && url.protocol === 'http:');
  return isEncrypted && hosts.includes(url.host);
}

/** What names a webhook in logs and at pins: its host, because paths may hold secrets. */
export const webhookName = ({ url }: { url: string }): string =>
  `webhook ${readUrl(url)?.host ?? ''}`;

/** What the signature of a call is over: an old body cannot be sent again as a new one. */
export const signedWebhookText = (timestamp: string, body: string): string =>
  `${timestamp}.${body}`;
