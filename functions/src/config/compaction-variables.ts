import { splitPolicies } from '#shared/compaction/policy-settings.ts';
import { list, thresholdRows, variants } from './config-values.ts';
import { z } from 'zod';

/** The variables of when and how conversations are compacted. Part of the environment's schema. */
export const compactionVariables = {
  COMPRESSOR_MODEL: z
    .string()
    .optional()
    .describe('Model that summarises all conversations; without it each one’s own model does.'),
  COMPRESSOR_FALLBACKS: list.describe(
    'Comma-separated models that summarise, in this order, where the one that should does not exist; the conversation’s own model comes last.',
  ),
  SUMMARY_STRATEGY: z
    .enum(['ledger', 'gemini-cli'])
    .default('ledger')
    .describe(
      'ledger: the model names changes and code applies and checks them; gemini-cli: the model writes the whole snapshot anew in two passes, as Gemini CLI does (always in the profile gemini-cli).',
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
  THRESHOLD_TABLE: thresholdRows.describe(
    'JSON {"model/profile": {thresholdTokens?, thresholdFraction?, tailTokens?, snapshotBudgetTokens?, toolOutputBudgetTokens?}}: rows before those of the table of thresholds. A key is the beginning of a model id; either half may be missing.',
  ),
  LEARN_THRESHOLD: z
    .enum(['off', 'on'])
    .default('off')
    .describe(
      'on: the threshold of a conversation moves towards where its user compacts it by hand, by a tenth at most; one that the conversation names stays, and so does that of the profile gemini-cli.',
    ),
  SPLIT_POLICY: z
    .enum(splitPolicies)
    .optional()
    .describe(
      'Where the verbatim tail begins: adaptive (default; a change of topic near 4,000 tokens), tail-tokens, or preserve-fraction (Gemini CLI’s newest 30 %).',
    ),
  COMPACTION_VARIANTS: variants.describe(
    'JSON {name: {share, strategy?, thresholdTokens?, splitPolicy?, …}}: a share of the conversations has these settings in place of the environment’s, to compare them; not in the profile gemini-cli.',
  ),
  IDLE_COMPACTION: z
    .enum(['on', 'off'])
    .default('off')
    .describe(
      'on: the sweep compacts conversations that nobody has used for 15 minutes, where that pays off.',
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
