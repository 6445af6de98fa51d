import { z } from 'zod';
import { tokens } from './fields.ts';

export const recalledResponse = z
  .object({
    count: z.number().int().describe('From how many turns.'),
    tokens: tokens.describe('What it took in the prompt, estimated.'),
    turns: z.array(z.string()).describe('Their ids, the oldest first.'),
  })
  .describe(
    'What was brought back of folded turns for the message; absent where nothing was. The words stand in those turns.',
  );
