import { z } from 'zod';
import { time, tokens } from './fields.ts';
import { recalledResponse } from './recalled.ts';

const compactionStatusResponse = z.object({
  state: z.string(),
  jobId: z.string().optional(),
  trigger: z.string().optional(),
  beforeTokens: tokens.optional(),
  afterTokens: tokens.optional(),
  coveredThrough: z.number().int().optional(),
  at: time.optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

export const contextObjectResponse = z.object({
  tokens,
  thresholdTokens: z.number().nullable(),
  windowTokens: z.number(),
  percent: z.number(),
  source: z.enum(['reported', 'counted', 'estimated']),
  generation: z.number().int(),
  compaction: compactionStatusResponse.nullable(),
  recalled: recalledResponse.optional(),
});
