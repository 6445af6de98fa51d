import { z } from 'zod';
import { share } from './config-values.ts';

/** The variables of what a compaction does beside its summary. Part of the environment's schema. */
export const compactionVariables = {
  PROBE_SHARE: share(0).describe(
    'Share of the compactions, 0 to 1, after which the model is asked up to five questions about what was folded; the log has how many answers were right. 0 = none.',
  ),
  CONDENSE_TOOL_OUTPUTS: z
    .enum(['off', 'on', 'always'])
    .default('off')
    .describe(
      'on: the summariser condenses tool outputs of more than 80,000 characters that a compaction shortens, up to three at a time, 15 s each; what it writes is checked, else they are cut. always: besides, CONDENSING_MODEL condenses those of more than 40,000 as soon as a tool gives them. Not in the profile gemini-cli.',
    ),
  CONDENSING_MODEL: z
    .string()
    .default('gemini-3.1-flash-lite')
    .describe(
      'Cheap model that condenses tool outputs between two calls, where CONDENSE_TOOL_OUTPUTS is always.',
    ),
};
