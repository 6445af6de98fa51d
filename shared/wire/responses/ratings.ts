import { z } from 'zod';
import { time } from './fields.ts';

export const feedbackResponse = z.object({
  rating: z.enum(['up', 'down']),
  reason: z.string().optional(),
  comment: z.string().optional(),
  at: time,
});
export type FeedbackView = z.infer<typeof feedbackResponse>;

export const ratingResponse = z.object({
  score: z.number().int().min(1).max(5),
  comment: z.string().optional(),
  at: time,
});
export type RatingView = z.infer<typeof ratingResponse>;
