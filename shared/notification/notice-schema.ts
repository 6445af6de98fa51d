import { z } from 'zod';

/** `notice` of a turn: which end or pause of it the user's devices have been told of. */
export const noticeSchema = z.object({
  /** The attempt that ended. */
  attempt: z.number().int().positive(),
  /** Of a pause: the round of calls that waited. */
  round: z.number().int().positive().optional(),
  state: z.enum(['sending', 'sent']),
  /** Of `sending`: before this time nobody else sends, nor tries again. */
  until: z.date(),
  /** Of `sending`: ids of the devices that need not be told any more. */
  told: z.array(z.string()),
});
export type Notice = z.infer<typeof noticeSchema>;
