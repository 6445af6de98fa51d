import { z } from 'zod';
import { FOCUS_MAX_CHARACTERS } from '../limits.ts';
import { wellFormedText, requestIdSchema } from './ids.ts';

export const restoreBody = z.strictObject({
  generation: z.number().int().min(0).max(99_999_999).describe('0: none, nothing stays folded.'),
  requestId: requestIdSchema.optional().describe('The same id again is the same restore.'),
});

export const compactBody = z.strictObject({
  focus: wellFormedText
    .min(1)
    .max(FOCUS_MAX_CHARACTERS)
    .optional()
    .describe('What the summary shall pay attention to.'),
  requestId: requestIdSchema.optional().describe('The same id again is the same request.'),
  dryRun: z
    .boolean()
    .optional()
    .describe('true: only tells what would be folded; nothing is asked for.'),
});
