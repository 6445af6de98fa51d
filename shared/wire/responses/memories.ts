import { z } from 'zod';
import { time, tokens } from './fields.ts';

export const memoryNoteResponse = z.object({
  id: z.string(),
  text: z.string(),
  topics: z.array(z.string()).optional(),
  imports: z.array(z.string()).optional(),
  source: z.enum(['user', 'tool']).describe('Who saved it: the user, or a tool in an answer.'),
  savedAt: time.describe('When it was saved or last edited.'),
  from: z
    .object({
      conversationId: z.string(),
      turnId: z.string().describe('The turn in which the tool was called.'),
      saidIn: z.array(z.string()).describe('The turns in which the user said it.'),
    })
    .optional()
    .describe('Only of a note that a tool saved; it is erased with these turns.'),
});
export type MemoryNoteView = z.infer<typeof memoryNoteResponse>;

export const leftOutImports = z
  .array(
    z.object({
      id: z.string(),
      by: z.string().describe('The note that names it.'),
      reason: z.enum(['unknown', 'cycle', 'tooDeep']),
    }),
  )
  .describe('Imports that were not followed.');

export const memoryListResponse = z.object({
  memories: z.array(memoryNoteResponse).describe('The newest first.'),
  memoriesMax: z.number().int().describe('Notes that a user may have.'),
  tokens: tokens.describe(
    'Estimate of what a new conversation’s prompts show, the app’s notes included.',
  ),
  budgetTokens: tokens.describe(
    'What they may take; less in a conversation with a small threshold.',
  ),
  leftOut: z.array(z.string()).describe('Notes that the budget has no room for.'),
  imports: leftOutImports,
});
export type MemoryListView = z.infer<typeof memoryListResponse>;
