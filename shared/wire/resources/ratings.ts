import type { Feedback } from '#shared/conversation/documents/turn.ts';
import type { Rating } from '#shared/conversation/documents/history.ts';
import { time, wellFormedText } from '../fields.ts';
import { COMMENT_MAX_CHARACTERS, REASON_MAX_CHARACTERS } from '#shared/lib/limits.ts';
import { z } from 'zod';

const commentSchema = wellFormedText.min(1).max(COMMENT_MAX_CHARACTERS).optional();

export const feedbackBody = z.strictObject({
  rating: z.enum(['up', 'down']),
  reason: wellFormedText
    .min(1)
    .max(REASON_MAX_CHARACTERS)
    .optional()
    .describe('What was good or bad, in a word of the app’s own list.'),
  comment: commentSchema,
});

export const rateBody = z.strictObject({
  score: z.number().int().min(1).max(5).describe('5 is best.'),
  comment: commentSchema,
});

export const feedbackResponse = z.object({
  rating: z.enum(['up', 'down']),
  reason: z.string().optional(),
  comment: z.string().optional(),
  at: time,
});
type FeedbackView = z.infer<typeof feedbackResponse>;

export const ratingResponse = z.object({
  score: z.number().int().min(1).max(5),
  comment: z.string().optional(),
  at: time,
});
type RatingView = z.infer<typeof ratingResponse>;

export const feedbackView = ({ time: at, ...said }: Feedback): FeedbackView => ({
  ...said,
  at: at.toISOString(),
});

export const ratingView = ({ score, comment, time: at }: Rating): RatingView => ({
  score,
  comment,
  at: at.toISOString(),
});
