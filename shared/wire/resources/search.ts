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

const conversationFields = {
  conversationId: z.string(),
  title: z.string().optional().describe('Of the conversation.'),
};

export const searchAllResponse = z.object({
  hits: z
    .array(searchHitResponse.extend(conversationFields))
    .describe(
      'The best first. Of folded turns, those that an edit replaced or that failed are found by the search of their conversation alone.',
    ),
  titles: z
    .array(z.object({ conversationId: z.string(), title: z.string() }))
    .describe('Conversations whose titles have the words, those with the newest message first.'),
  searched: z
    .number()
    .int()
    .describe(
      'So many conversations this request looked into; `nextPageToken` goes on, first with more hits of the same.',
    ),
  unreached: z
    .array(
      z.object({
        ...conversationFields,
        turns: z
          .number()
          .int()
          .optional()
          .describe(
            'So many of its older turns, which the search of that conversation reaches; absent: nothing of it, because it cannot be read, or not by this version of the service.',
          ),
      }),
    )
    .describe(
      'What was passed by. Said once, with the titles: on the first page of its conversations.',
    ),
  nextPageToken: z.string().optional(),
});
export type SearchAllView = z.infer<typeof searchAllResponse>;
