import { z } from 'zod';

/** A document id: no slash. */
const conversationId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^/]+$/);

/** What events of the events topic are about: the first word of their `type`. */
const eventSubjects = ['compaction', 'turn'] as const;

/** `turn.finished`. An event of another subject would be dropped by its readers. */
export type EventType = `${(typeof eventSubjects)[number]}.${string}`;

/** What every event of the events topic has; the rest is passed on as it came. */
const publishedEventSchema = z.looseObject({
  schemaVersion: z.literal(1),
  type: z
    .string()
    .max(64)
    .regex(new RegExp(String.raw`^(?:${eventSubjects.join('|')})\.[a-z_]+$`)),
  conversationId,
});

/** An event of the topic that tells what happened, as whoever listens reads it. */
export type PublishedEvent = z.infer<typeof publishedEventSchema>;

/** Reads an event of the events topic; one that a later version added is read as well. */
export const readPublishedEvent = (value: unknown) => publishedEventSchema.safeParse(value);

const turnFinishedSchema = z.object({
  schemaVersion: z.literal(1),
  type: z.literal('turn.finished'),
  conversationId,
  turnId: z.string().regex(/^t_[1-9]\d{0,9}$/),
  /** A turn may end more than once: a failure that passes is answered by a later attempt. */
  attempt: z.number().int().positive(),
  state: z.enum(['done', 'failed', 'cancelled']),
  /** `replacement`: the turn stands in for earlier ones, after an edit or a regeneration. */
  kind: z.enum(['message', 'replacement']),
  /** Why it failed, as in the error of the turn. */
  reason: z.string().optional(),
  /** Whether somebody waited for the answer on the instance that gave it. */
  isAttended: z.boolean(),
});

/** A turn has ended. Ids, states and never a word that was said. */
export type TurnFinished = z.infer<typeof turnFinishedSchema>;

const turnWaitingSchema = turnFinishedSchema.omit({ state: true, reason: true }).extend({
  type: z.literal('turn.waiting'),
  state: z.literal('awaiting_tool'),
  /** Which round of calls waits; a turn may wait more than once. */
  round: z.number().int().positive(),
});

/** A turn waits for the app to run a function, or for its user to allow a call. As little said as of an end. */
export type TurnWaiting = z.infer<typeof turnWaitingSchema>;

/** A turn that comes to rest without anybody there to see it. */
export type TurnRested = TurnFinished | TurnWaiting;

const turnRestedSchema = z.union([turnFinishedSchema, turnWaitingSchema]);

/** The event as one of a turn, or undefined where it is another one. */
export const asTurnRested = (event: PublishedEvent): TurnRested | undefined =>
  turnRestedSchema.safeParse(event).data;

/** The event of a turn's end. */
export const turnFinishedEvent = (
  ended: Omit<TurnFinished, 'schemaVersion' | 'type'>,
): TurnFinished => ({ schemaVersion: 1, type: 'turn.finished', ...ended });

/** The event of a turn that waits. */
export const turnWaitingEvent = (
  waiting: Omit<TurnWaiting, 'schemaVersion' | 'type' | 'state'>,
): TurnWaiting => ({
  schemaVersion: 1,
  type: 'turn.waiting',
  state: 'awaiting_tool',
  ...waiting,
});
