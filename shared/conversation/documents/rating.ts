import { z } from 'zod';
import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import { ratingPath } from './paths.ts';

/** `feedback` of a turn: what the user thinks of the answer. */
export const feedbackSchema = z.object({
  rating: z.enum(['up', 'down']),
  reason: z.string().optional(),
  comment: z.string().optional(),
  time: z.date(),
});
export type Feedback = z.infer<typeof feedbackSchema>;

const ratingSchema = z.object({
  schemaVersion: z.literal(1),
  generation: z.number().int().positive(),
  score: z.number().int().min(1).max(5),
  comment: z.string().optional(),
  time: z.date(),
});

/**
 * `conversations/{c}/ratings/{generation}`: what the user thinks of a compaction. Apart from the history,
 * which is written once.
 */
export type Rating = z.infer<typeof ratingSchema>;

/** Reads a rating; one that cannot be read is none. */
export const decodeRating = ({ fields }: StoredDocument): Rating | undefined =>
  ratingSchema.safeParse(fields).data;

/** The ratings of generations that have one. No read when none is asked for. */
export async function readRatings(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  generations: readonly number[],
): Promise<Map<number, Rating>> {
  if (generations.length === 0) return new Map();
  const paths = generations.map((generation) => ratingPath(conversationId, generation));
  const documents = await store.get(paths);
  return new Map(
    documents.flatMap((document) => {
      const rating = document && decodeRating(document);
      return rating ? [[rating.generation, rating] as const] : [];
    }),
  );
}
