import type { DocumentFields, StoredDocument, Write } from '#shared/ports/ports.ts';
import { z } from 'zod';

/*
 * What is to be done once a turn is answered: a document of its own, in one batch with the answer, until it is done. It
 * holds ids alone.
 */

export const AFTER_TURNS = 'afterTurns';

/** The instance that gave the answer does it at once; after this the sweep does, ms. */
const LEFT_AFTER_MS = 60_000;

/** Between two tries of the sweep: doubled each time, from a minute to six hours. */
const RETRY_MIN_MS = 60_000;
const RETRY_MAX_MS = 6 * 60 * 60_000;

/** Tries of the sweep: about three days. */
export const AFTER_TURN_TRIES_MAX = 20;

const afterTurnSchema = z.object({
  schemaVersion: z.literal(1),
  conversationId: z.string(),
  seq: z.number().int(),
  /** Of the sweep, so far. */
  tries: z.number().int(),
  /** From then on the sweep takes it. */
  dueTime: z.date(),
});
export type AfterTurn = z.infer<typeof afterTurnSchema>;

/** Throws ZodError. */
export const decodeAfterTurn = ({ fields }: Pick<StoredDocument, 'fields'>): AfterTurn =>
  afterTurnSchema.parse(fields);

export const afterTurnPath = ({ conversationId, seq }: Pick<AfterTurn, 'conversationId' | 'seq'>) =>
  `${AFTER_TURNS}/${conversationId}_${seq}`;

/** Stands in the batch that ends the turn. */
export const afterTurnWrite = (
  turn: Pick<AfterTurn, 'conversationId' | 'seq'>,
  now: Date,
): Write => ({
  op: 'create',
  path: afterTurnPath(turn),
  fields: {
    schemaVersion: 1,
    conversationId: turn.conversationId,
    seq: turn.seq,
    tries: 0,
    dueTime: new Date(now.getTime() + LEFT_AFTER_MS),
  },
});

/** The sweep takes it: nobody else does before it is due again. */
export const triedFields = ({ tries }: Pick<AfterTurn, 'tries'>, now: Date): DocumentFields => ({
  tries: tries + 1,
  dueTime: new Date(now.getTime() + Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** tries)),
});
