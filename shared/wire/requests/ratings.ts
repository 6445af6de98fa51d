import { z } from 'zod';
import { COMMENT_MAX_CHARACTERS, REASON_MAX_CHARACTERS } from '../limits.ts';
import { wellFormedText } from './ids.ts';

const comment = wellFormedText.min(1).max(COMMENT_MAX_CHARACTERS).optional();

export const feedbackBody = z.strictObject({
  rating: z.enum(['up', 'down']),
  reason: wellFormedText
    .min(1)
    .max(REASON_MAX_CHARACTERS)
    .optional()
    .describe('What was good or bad, in a word of the app’s own list.'),
  comment,
});

export const rateBody = z.strictObject({
  score: z.number().int().min(1).max(5).describe('5 is best.'),
  comment,
});
