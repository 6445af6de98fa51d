import { z } from 'zod';
import { tokens } from '../fields.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/** What was brought back of the folded turns for one message. */
export type RecalledView = {
  /** How many turns it is from. */
  count: number;
  /** What it took in the prompt, estimated. */
  tokens: number;
  /** Their ids, the oldest first. */
  turns: string[];
};

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

export const recalledResponse = z
  .object({
    count: z.number().int().describe('From how many turns.'),
    tokens: tokens.describe('What it took in the prompt, estimated.'),
    turns: z.array(z.string()).describe('Their ids, the oldest first.'),
  })
  .describe(
    'What was brought back of folded turns for the message; absent where nothing was. The words stand in those turns.',
  );
