import { time } from '../fields.ts';
import { z } from 'zod';

const searchHitResponse = z.object({
  seq: z.number().int(),
  role: z.enum(['user', 'model']),
  messageId: z.string(),
  at: time,
  replaced: z
    .literal(true)
    .optional()
    .describe('An edit or a regeneration took its place: the model does not read it any more.'),
  snippet: z.string().describe('A line of the message around what was found.'),
  score: z
    .number()
    .nonnegative()
    .describe(
      'The higher the better; comparable within the turns that one request looked through.',
    ),
});
export type SearchHitView = z.infer<typeof searchHitResponse>;

export const searchResponse = z.object({
  hits: z.array(searchHitResponse).describe('The best first.'),
  searched: z
    .object({
      turns: z.number().int().nonnegative(),
      newestSeq: z.number().int().nonnegative(),
      oldestSeq: z.number().int().nonnegative(),
      isWhole: z.boolean().describe('Whether no older turn is left to look through.'),
    })
    .describe('Which turns this request looked through; `nextPageToken` goes on with older ones.'),
  nextPageToken: z.string().optional(),
});
export type SearchView = z.infer<typeof searchResponse>;
