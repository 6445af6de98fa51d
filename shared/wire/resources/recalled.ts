import { z } from 'zod';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { tokens } from '../fields.ts';

export const recalledResponse = z
  .object({
    count: z.number().int().describe('From how many turns.'),
    tokens: tokens.describe('What it took in the prompt, estimated.'),
    turns: z.array(z.string()).describe('Their ids, the oldest first.'),
  })
  .describe(
    'What was brought back of folded turns for the message; absent where nothing was. The words stand in those turns.',
  );
type RecalledView = z.infer<typeof recalledResponse>;

/** As views and context objects tell it; nothing where nothing was brought back. */
export const recalledView = ({ recalled }: Pick<Turn, 'recalled'>): { recalled?: RecalledView } =>
  recalled
    ? {
        recalled: {
          count: recalled.seqs.length,
          tokens: recalled.tokens,
          turns: recalled.seqs.map(turnId),
        },
      }
    : {};
