import { z } from 'zod';
import { importFormats } from '#shared/memory/note.ts';
import { integer } from './config-values.ts';

/** The variables of the memory in prompts. Part of the environment's schema. */
export const memoryVariables = {
  MEMORY_BUDGET_TOKENS: integer(1_000, { min: 0, max: 20_000 }).describe(
    'Tokens of the notes about the user and of the app that stand in the prefix of a prompt, the newest first, and again of those that are said with a message; at most an eighth of the threshold. 0 = no memory in prompts.',
  ),
  MEMORY_IMPORT_FORMAT: z
    .enum(importFormats)
    .default('flat')
    .describe(
      'How prompts show notes that others import: flat (by their age), or tree (below the note that brings them along).',
    ),
};
