import { turnId } from '#shared/conversation/documents/paths.ts';
import {
  IMPORTS_MAX,
  NOTE_MAX_CHARACTERS,
  TOPIC_MAX_CHARACTERS,
  TOPICS_MAX,
  type Note,
} from '#shared/memory/note.ts';
import { time, tokens, wellFormedText } from '../fields.ts';
import { z } from 'zod';

/** A note as its user sees it. */
export function noteView(note: Note): MemoryNoteView {
  const { savedAt, from, revision: _, ...shown } = note;
  return {
    ...shown,
    savedAt: savedAt.toISOString(),
    ...(from && {
      from: {
        conversationId: from.conversationId,
        turnId: turnId(from.seq),
        saidIn: turnId(from.saidIn),
        saidAt: from.saidAt.toISOString(),
      },
    }),
  };
}

const memoryIdSchema = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, - and _')
  .describe('Id of a note. The same id again is the same note.');

export const memoryParams = z.strictObject({ memoryId: memoryIdSchema });

const noteFields = {
  text: wellFormedText
    .regex(/\S/, 'must not be blank')
    .max(NOTE_MAX_CHARACTERS)
    .describe('What is to be remembered.'),
  topics: z
    .array(
      wellFormedText
        .regex(/[\p{L}\p{N}]/u, 'must have a letter or digit')
        .max(TOPIC_MAX_CHARACTERS),
    )
    .max(TOPICS_MAX)
    .describe(
      'Where there are any, prompts have the note only when a message touches one of them.',
    ),
  imports: z
    .array(memoryIdSchema)
    .max(IMPORTS_MAX)
    .describe('Notes, of the user or of the app, that prompts have wherever they have this one.'),
};

export const createMemoryBody = z.strictObject({
  id: memoryIdSchema.optional(),
  text: noteFields.text,
  topics: noteFields.topics.optional(),
  imports: noteFields.imports.optional(),
});

export const patchMemoryBody = z.strictObject({
  text: noteFields.text.optional(),
  topics: noteFields.topics.optional(),
  imports: noteFields.imports.optional(),
});

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
      saidIn: z.string().describe('The turn whose message the text quotes.'),
      saidAt: time.describe('When that message came.'),
    })
    .optional()
    .describe(
      'Only of a note that a tool saved, which quotes the user; it is erased with these turns.',
    ),
});
type MemoryNoteView = z.infer<typeof memoryNoteResponse>;

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
