import { z } from 'zod';

/** The variables of when and how conversations are compacted. Part of the environment's schema. */
export const compactionVariables = {
  COMPRESSOR_MODEL: z
    .string()
    .optional()
    .describe(
      'Model that summarises all conversations; without it, or where it does not exist, each one’s own model does.',
    ),
  SUMMARY_STRATEGY: z
    .enum(['ledger', 'gemini-cli'])
    .default('ledger')
    .describe(
      'ledger: the model names changes and code applies and checks them; gemini-cli: the model writes the whole snapshot anew in two passes, and the newest 30 % stay, as Gemini CLI does (always in the profile gemini-cli).',
    ),
  THRESHOLD_FRACTION: z.coerce
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe(
      'Share of the window at which compaction is requested; 1 = at none: not before answers would leave turns out.',
    ),
  THRESHOLD_TOKENS: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe('Tokens at which compaction is requested.'),
  CONDENSE_TOOL_OUTPUTS: z
    .enum(['off', 'on', 'always'])
    .default('off')
    .describe(
      'on: the summariser condenses tool outputs of more than 80,000 characters that a compaction shortens, up to three at a time, 15 s each; what it writes is checked, else they are cut. always: besides, QUICK_MODEL condenses those of more than 40,000 as soon as a tool gives them. Not in the profile gemini-cli.',
    ),
};
