import { z } from 'zod';

/** A source of a folded turn, as a snapshot keeps it for the statements that it bears out. */
export const citationSchema = z.object({
  /** That of the source in stream and transcript: `s12.1`. */
  id: z.string(),
  seq: z.number().int().positive(),
  url: z.string(),
  title: z.string().optional(),
  /** What of the answer it bears out, word for word; none: nobody said, it is the whole answer. */
  claims: z.array(z.string()),
});
export type Citation = z.infer<typeof citationSchema>;

/** The id of a source of a turn, counted from 1; the same in stream, transcript and context. */
export const sourceId = (seq: number, index: number) => `s${seq}.${index + 1}`;
