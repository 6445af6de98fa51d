import { z } from 'zod';
import { time, tokens, wholePromptTokens } from './fields.ts';
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

export const contextObjectResponse = z.object({
  tokens: tokens.describe(
    'Of the next prompt without its message: system instruction, tools, memory, pins, snapshot and turns. After a swap what the swap counted (`compaction.afterTokens`), and estimates for what came since.',
  ),
  thresholdTokens: z.number().nullable(),
  windowTokens: z.number(),
  percent: z.number(),
  source: z.enum(['reported', 'counted', 'estimated']),
  generation: z.number().int(),
  compaction: compactionStatusResponse.nullable(),
  recalled: recalledResponse.optional(),
});
