import { z } from 'zod';
import { time, tokens, wholePromptTokens } from '../fields.ts';
import { recalledResponse } from './recalled.ts';

const compactionStatusResponse = z.object({
  state: z.string(),
  jobId: z.string().optional(),
  trigger: z.string().optional(),
  beforeTokens: wholePromptTokens.optional(),
  afterTokens: wholePromptTokens.optional(),
  coveredThrough: z.number().int().optional(),
  at: time.optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

const leftOutResponse = z
  .object({
    turns: z.number().int(),
    from: z.number().int().describe('First of them.'),
    upTo: z.number().int().describe('Last of them.'),
    remedy: z
      .enum(['wait', 'compact'])
      .describe(
        'How the model gets what matters in them back: wait, a compaction is on its way; compact, none comes by itself (`settings.compaction` is manual or off, or it pauses): `POST …:compact`.',
      ),
    message: z.string().describe('Ready to be shown to a person.'),
  })
  .describe(
    'Turns that the next call leaves out for lack of room; absent where the model sees all of the context. The transcript keeps them.',
  );

export const contextObjectResponse = z.object({
  tokens: tokens.describe(
    'Of the next prompt without its message: system instruction, tools, memory, pins, snapshot and turns. After a swap what the swap counted (`compaction.afterTokens`), and estimates for what came since.',
  ),
  thresholdTokens: z
    .number()
    .nullable()
    .describe('null: nothing is compacted at a threshold (manual, off, or none is set).'),
  windowTokens: z.number(),
  percent: z.number(),
  source: z.enum(['reported', 'counted', 'estimated']),
  generation: z.number().int(),
  compaction: compactionStatusResponse.nullable(),
  leftOut: leftOutResponse.optional(),
  recalled: recalledResponse.optional(),
});
