import { z } from 'zod';

/** What a peer's process is asked to do: one of its works, with one argument. */
export const orderSchema = z.object({ work: z.string(), argument: z.string() });

export type Order = z.infer<typeof orderSchema>;

/** What it answers: what was measured, by name, or why it could not be. */
export const replySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), figures: z.record(z.string(), z.number()) }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
]);

export type Reply = z.infer<typeof replySchema>;

export type Figures = Readonly<Record<string, number>>;
