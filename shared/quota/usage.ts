import type {
  QuotaSpending,
  ModelUsage,
  DocumentFields,
  Sha256,
  StoredDocument,
} from '#shared/ports/ports.ts';
import { z } from 'zod';
import { readWhole } from '#shared/conversation/documents/read-document.ts';

/** One day. */
const DAY_MS = 24 * 60 * 60_000;

/** How long what was counted on a day is kept: enough to answer a question about a bill. */
const KEPT_MS = 35 * DAY_MS;

/** Days are those of UTC, whatever the time zone of user and server: `2026-01-02`. */
export const toDay = (now: Date): string => now.toISOString().slice(0, 10);

/** When the day after begins. */
export const nextDay = (now: Date): Date =>
  new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);

/**
 * The days whose figures still count, the newest first: until `holdMs` after midnight answers of the day before may be
 * on their way, and its last minute is counted.
 */
export function countedDays(now: Date, holdMs: number): [today: string, ...before: string[]] {
  const today = toDay(now);
  const before = toDay(new Date(now.getTime() - Math.max(holdMs, MINUTE_MS)));
  return before === today ? [today] : [today, before];
}

/** When what was counted on this day may go. */
export const usageExpiry = (now: Date): Date => new Date(nextDay(now).getTime() + KEPT_MS);

/** Of tokens, and of millionths of a dollar: far more than a day can have. */
const count = z.number().nonnegative().max(1e15).default(0);

const reservationSchema = z.object({
  /** `reservationId` */
  id: z.string(),
  /** Hash of its conversation, which answers one message at a time. */
  conversation: z.string(),
  attempt: z.number().int().positive(),
  tokens: count,
  costMicros: count,
  /** Its message stands among those of the day. */
  isCounted: z.boolean().optional(),
  /** Who reserved it: requests that bring the same message at once share it, and all but one give it up. */
  holders: z.array(z.string()),
  /** When it was made, as it stands in `begun`. */
  since: z.date(),
  /** A reservation that is not settled by then is nobody's. */
  until: z.date(),
});

/** What an answer on its way may take. */
export type OpenReservation = z.infer<typeof reservationSchema>;

/** What one call of a model that answers no message may cost until it is settled. */
const heldSchema = z.object({
  /** Drawn for the call. */
  id: z.string(),
  costMicros: count,
  /** A call that is not settled by then is nobody's. */
  until: z.date(),
});

type HeldCost = z.infer<typeof heldSchema>;

const workSchema = z
  .object({
    runs: count,
    tokens: count,
    costMicros: count,
  })
  .prefault({});

type Work = z.infer<typeof workSchema>;

/** `quotas/{uid}/usage/{day}`: what a user has taken on a day (UTC) and what is on its way. It names no content. */
const usageSchema = z.object({
  messages: count,
  tokens: count,
  costMicros: count,
  /** Conversations, forks, devices and notes that were made. */
  created: count,
  compactions: workSchema,
  titles: workSchema,
  routing: workSchema,
  condensing: workSchema,
  open: z.array(reservationSchema).default([]),
  /** Calls on their way that are no messages: they hold dollars, and no place among the answers. */
  held: z.array(heldSchema).default([]),
  /** Turns that began in the last minute, the oldest first. */
  begun: z.array(z.date()).default([]),
  /** Ids of the newest batches that wrote it: who misses a reply finds here whether it was applied. */
  batches: z.array(z.string()).default([]),
});

export type Usage = z.infer<typeof usageSchema>;

/** What asks a model for a user and is no message. */
export type WorkName = 'compactions' | 'titles' | 'routing' | 'condensing';

/** Of a day on which nothing has happened yet. */
export const noUsage: Usage = usageSchema.parse({});

/** The document of a day, or what an absent one means; so does a figure that cannot be read. */
export const decodeUsage = (document: StoredDocument | undefined): Usage =>
  document ? readWhole(usageSchema, document.fields, noUsage).value : noUsage;

export const encodeUsage = (usage: Usage, now: Date): DocumentFields => ({
  schemaVersion: 1,
  ...usage,
  compactions: { ...usage.compactions },
  titles: { ...usage.titles },
  routing: { ...usage.routing },
  condensing: { ...usage.condensing },
  open: usage.open.map((reservation) => ({ ...reservation })),
  held: usage.held.map((call) => ({ ...call })),
  expireTime: usageExpiry(now),
});

/** What all calls of the day cost together, work that is no message included. */
export const totalSpentMicros = (usage: Usage): number =>
  usage.costMicros +
  usage.compactions.costMicros +
  usage.titles.costMicros +
  usage.routing.costMicros +
  usage.condensing.costMicros;

/** How many ids of batches are kept: more than others write of one user while the reply to a batch is waited for. */
const BATCHES_KEPT = 64;

/** The figures as a batch leaves them that has an id. */
export const withBatch = (usage: Usage, id: string): Usage => ({
  ...usage,
  batches: [...usage.batches, id].slice(-BATCHES_KEPT),
});

/** Names the reservation of a message by a hash, for it may outlive the message and its conversation. */
export const reservationId = (
  sha256: Sha256,
  { conversationId, messageId }: { conversationId: string; messageId: string },
): string => sha256(`${conversationId}/${messageId}`);

/** What is on its way at a time. */
export const openAt = ({ open }: Usage, now: Date): OpenReservation[] =>
  open.filter(({ until }) => until > now);

/** How many of them can be answered at once. */
export const countStreams = (open: readonly Pick<OpenReservation, 'conversation'>[]): number =>
  new Set(open.map(({ conversation }) => conversation)).size;

/** How many messages of the day they hold: one that has waited for the app is counted already. */
export const heldMessages = (open: readonly OpenReservation[]): number =>
  open.filter(({ isCounted }) => isCounted !== true).length;

/** Calls that are no messages and on their way at a time. */
export const heldAt = (held: readonly HeldCost[], now: Date): HeldCost[] =>
  held.filter(({ until }) => until > now);

/** Millionths of a dollar that several hold together. */
export const sumOfCosts = (costs: readonly { costMicros: number }[]): number =>
  costs.reduce((sum, { costMicros }) => sum + costMicros, 0);

/**
 * What they hold for a message that comes meanwhile, millionths of a dollar: the largest is left out. It holds many times
 * what it will cost, and a compaction must not keep its user from being answered; so one call at most goes beyond a limit.
 */
export const heldBesideLargest = (held: readonly HeldCost[]): number =>
  sumOfCosts(held) - Math.max(0, ...held.map(({ costMicros }) => costMicros));

/** What the minute of the limit of requests is. */
export const MINUTE_MS = 60_000;

/** Turns that began within the last minute. What a clock far ahead has written does not count. */
export const begunWithin = ({ begun }: Usage, now: Date): Date[] =>
  begun.filter((at) => Math.abs(now.getTime() - at.getTime()) < MINUTE_MS);

/** What was taken, as the limits count it. */
interface Taken {
  messages: number;
  tokens: number;
  costMicros: number;
}

/** Tokens that the limits count: input that no cache had, what Google's tools gave to read, and output with thoughts. */
export const countedTokens = ({
  promptTokens,
  cachedTokens,
  outputTokens,
  thoughtsTokens,
  toolTokens = 0,
}: ModelUsage): number =>
  Math.max(0, promptTokens - cachedTokens) + toolTokens + outputTokens + thoughtsTokens;

/**
 * What the limits count of calls. One that was broken off before the model told its figures counts as `estimate`, beside
 * what others reported.
 */
export function takenBy(
  { usage, costMicros = 0, isMessage, isUnreported }: QuotaSpending,
  estimate: Pick<OpenReservation, 'tokens' | 'costMicros'>,
): Taken {
  return {
    messages: isMessage ? 1 : 0,
    tokens: (usage ? countedTokens(usage) : 0) + (isUnreported ? estimate.tokens : 0),
    costMicros: costMicros + (isUnreported ? estimate.costMicros : 0),
  };
}

const addWork = (work: Work, more: Work): Work => ({
  runs: work.runs + more.runs,
  tokens: work.tokens + more.tokens,
  costMicros: work.costMicros + more.costMicros,
});

/** The document once what was taken stands in the place of the reservation. */
export function usageAfter(
  usage: Usage,
  openReservation: Pick<OpenReservation, 'id' | 'attempt'>,
  { taken, routing, now }: { taken: Taken; routing?: QuotaSpending['routing']; now: Date },
): Usage {
  return {
    ...usage,
    routing: routing ? addWork(usage.routing, { runs: 1, ...routing }) : usage.routing,
    messages: usage.messages + taken.messages,
    tokens: usage.tokens + taken.tokens,
    costMicros: usage.costMicros + taken.costMicros,
    open: openAt(usage, now).filter(
      ({ id, attempt }) => id !== openReservation.id || attempt !== openReservation.attempt,
    ),
  };
}

/** The document once what a call took that is no message stands in the place of what it held. */
export const usageAfterCall = (
  usage: Usage,
  call: { work: WorkName; isMore: boolean; id: string; tokens: number; costMicros: number },
): Usage => ({
  ...usage,
  [call.work]: addWork(usage[call.work], { ...call, runs: call.isMore ? 0 : 1 }),
  held: usage.held.filter(({ id }) => id !== call.id),
});
