import { z } from 'zod';
import {
  IMPORTS_MAX,
  NOTE_MAX_CHARACTERS,
  TOPIC_MAX_CHARACTERS,
  TOPICS_MAX,
} from '#shared/memory/note.ts';
import { wellFormedText } from './ids.ts';

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
