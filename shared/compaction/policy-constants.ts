import type { ConstantTable } from '#shared/constant.ts';

/** As the table of constants names a setting of the policy. */
export const policySetting = (name: string): string => `policy setting \`${name}\``;

/** Numbers of the decision to compact, of the swap and of the breaker. */
export const policyConstants = {
  thresholdFraction: {
    value: 0.5,
    unit: 'fraction of the window',
    origin: 'Gemini CLI since #13517',
    configure: policySetting('thresholdFraction'),
  },
  thresholdTokens: {
    value: 24_000,
    unit: 'tokens',
    origin: 'cost model: the optimum lies at 6–19 k; 24 k buys fidelity for 1.5 × the cheapest',
    configure: `${policySetting('thresholdTokens')}; the row of a model`,
  },
  codingThresholdTokens: {
    value: 48_000,
    unit: 'tokens',
    origin:
      'as `thresholdTokens`, in the profile `coding`: with nine prompts of ten cached two recorded sessions cost 1.4 and 1.5 × the cheapest threshold (12,000), and the last snapshot carries 13 and 22 % of what was folded, at 24,000 8 and 19 %',
    configure: `${policySetting('thresholdTokens')}; the row of a model`,
  },
  codingTailTokens: {
    value: 8_000,
    unit: 'tokens',
    origin:
      'as `tailTokens`, in the profile `coding`: a step with its tool output takes about 1,000 tokens, so that 4,000 would hold 4 to 7 steps',
    configure: policySetting('tailTokens'),
  },
  learnedShiftMaximum: {
    value: 0.1,
    unit: 'fraction of the soft threshold',
    origin: 'a habit of one user says little about what a threshold costs',
    configure: 'with `learnThreshold` in `config/compaction`',
  },
  windowFraction: {
    value: 0.8,
    unit: 'fraction of the window',
    origin: 'room for the answer and for the error of the estimate',
    configure: 'fixed',
  },
  hardThresholdFactor: {
    value: 2,
    unit: '× soft threshold',
    origin: 'one more threshold of growth while a compaction is on its way',
    configure: 'follows the soft threshold',
  },
  overheadFraction: {
    value: 0.5,
    unit: 'fraction of the window',
    origin: 'more system instruction and tools than conversation is a mistake of configuration',
    configure: 'fixed',
  },
  minimumSavingFraction: {
    value: 0.3,
    unit: 'fraction of the tokens before',
    origin: 'ends loops of compactions that save next to nothing',
    configure: '0 in the profile `gemini-cli`',
  },
  overflowFraction: {
    value: 0.95,
    unit: 'fraction of what the window has left',
    origin: 'a request may fill this much of it: Gemini CLI before its #16914',
    configure: 'fixed',
  },
  overflowTargetFraction: {
    value: 0.5,
    unit: 'fraction of the window',
    origin: 'after an overflow the newest turn is folded too if less would leave more than this',
    configure: 'fixed',
  },
  minimumSavingThresholdFraction: {
    value: 0.25,
    unit: 'fraction of the soft threshold',
    origin: 'what a swap saves at least, beside its share: a summary is not free',
    configure: '0 in the profile `gemini-cli`',
  },
  tailTokens: {
    value: 4_000,
    unit: 'tokens',
    origin: 'pins ≤ 1 k + snapshot ≤ 2.4 k + tail ≤ 4 k stay below 0.4 × 24 k',
    configure: `${policySetting('tailTokens')}; a sixth of the soft threshold at most`,
  },
  tailFraction: {
    value: 1 / 6,
    unit: 'fraction of the soft threshold',
    origin: '4,000 of 24,000: the longest tail of any threshold',
    configure: 'follows the soft threshold',
  },
  tailCapFraction: {
    value: 0.25,
    unit: 'fraction of the soft threshold',
    origin: 'room for a second turn, and from here on a single one is folded inside',
    configure: 'follows the soft threshold',
  },
  minimumTailFraction: {
    value: 0.25,
    unit: 'fraction of the tail',
    origin: 'a tail of one short answer loses what was being done',
    configure: 'follows the tail',
  },
  maximumChunks: {
    value: 16,
    unit: 'model calls',
    origin: 'four at once, four times: within the time of one compaction; what is left follows',
    configure: 'fixed',
  },
  stalledSwaps: {
    value: 2,
    unit: 'swaps in a row',
    origin: 'without progress; Gemini CLI compressed 8 of 8 turns and nothing got smaller',
    configure: 'fixed',
  },
  rearmFraction: {
    value: 0.25,
    unit: 'fraction of the soft threshold',
    origin: 'new tokens needed between two automatic compactions',
    configure: '0 in the profile `gemini-cli`',
  },
  preserveFraction: {
    value: 0.3,
    unit: 'fraction of the JSON characters',
    origin: 'Gemini CLI: the newest 30 % stay verbatim',
    configure: 'fixed; strategy `gemini-cli` alone',
  },
  breakerFailures: {
    value: 3,
    unit: 'failures in a row',
    origin: 'one failure is often an accident, three are a state',
    configure: `${policySetting('breakerFailures')}; 1 in the profile \`gemini-cli\``,
  },
  breakerOpenMs: {
    value: 30 * 60_000,
    unit: 'milliseconds',
    origin: 'a latch without expiry would last as long as the conversation',
    configure: policySetting('breakerOpenMs'),
  },
  breakerGrowthFraction: {
    value: 0.5,
    unit: 'fraction of the conversation when the breaker opened',
    origin: 'a history that has grown by half is another one: one try, whatever the pause',
    configure: 'fixed',
  },
  inflatedMessageTokens: {
    value: 50_000,
    unit: 'tokens',
    origin: 'Gemini CLI words the message differently from here on',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
