import type { ConstantTable } from './constant.ts';

const policySetting = (name: string): string => `policy setting \`${name}\``;

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
    configure: policySetting('thresholdTokens'),
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
  overflowTargetFraction: {
    value: 0.5,
    unit: 'fraction of the window',
    origin: 'after an overflow the newest turn is folded too if less would leave more than this',
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
    configure: policySetting('preserveFraction'),
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
  inflatedMessageTokens: {
    value: 50_000,
    unit: 'tokens',
    origin: 'Gemini CLI words the message differently from here on',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;

/** Numbers of the snapshot and of its verification. */
export const snapshotConstants = {
  snapshotBudgetFraction: {
    value: 0.1,
    unit: 'fraction of the soft threshold',
    origin: 'snapshot + tail come to about 0.4 × threshold',
    configure: 'follows the soft threshold',
  },
  snapshotBudgetMinimumTokens: {
    value: 400,
    unit: 'tokens',
    origin: 'below it seven sections have no room',
    configure: 'fixed',
  },
  snapshotBudgetMaximumTokens: {
    value: 8_192,
    unit: 'tokens',
    origin: 'fixed ceiling: a summary must not grow with what it covers',
    configure: 'fixed',
  },
  snapshotCeilingFactor: {
    value: 2,
    unit: '× snapshot budget',
    origin: 'models overshoot a stated size; twice is refused',
    configure: 'fixed',
  },
  snapshotFloorTokens: {
    value: 10,
    unit: 'tokens',
    origin: 'less is a refusal or an accident, not a memory',
    configure: 'fixed',
  },
  summaryOutputTokens: {
    value: 32_768,
    unit: 'tokens',
    origin: 'thoughts + scratchpad + the largest snapshot: models bill thoughts as output',
    configure: 'fixed',
  },
  summaryOutputWindowFraction: {
    value: 0.25,
    unit: 'fraction of the summariser’s window',
    origin: 'leaves a small window room for what is summarised',
    configure: 'fixed',
  },
  summariserPartialFraction: {
    value: 0.6,
    unit: 'fraction of the summariser’s window',
    origin: 'what a small window may hold of the turns, and a large one when not all of them fit',
    configure: 'fixed',
  },
  snapshotAnswerMaximumCharacters: {
    value: 400_000,
    unit: 'characters',
    origin: 'twice the largest ceiling plus a scratchpad',
    configure: 'argument of `readSnapshot`',
  },
  snapshotCandidateLimit: {
    value: 32,
    unit: 'opening tags tried',
    origin: 'keeps reading linear for hostile answers',
    configure: 'fixed',
  },
  repeatedLineLimit: {
    value: 5,
    unit: 'occurrences',
    origin: 'a sixth equal line is a model in a loop',
    configure: 'fixed',
  },
  repeatedChunkCharacters: {
    value: 50,
    unit: 'characters',
    origin: 'Gemini CLI, loop detection',
    configure: 'fixed',
  },
  repeatedChunkLimit: {
    value: 10,
    unit: 'occurrences',
    origin: 'Gemini CLI, loop detection',
    configure: 'fixed',
  },
  repeatedChunkPeriods: {
    value: 5,
    unit: 'different periods',
    origin: 'Gemini CLI, loop detection: a list differs from line to line, a loop does not',
    configure: 'fixed',
  },
  appendedFactsFraction: {
    value: 0.25,
    unit: 'fraction of the snapshot budget',
    origin: 'sentences that code adds must not crowd out the summary',
    configure: 'follows the soft threshold',
  },
  appendedFactCharacters: {
    value: 200,
    unit: 'characters',
    origin: 'a sentence around the identifier',
    configure: 'fixed',
  },
  unsupportedLineFraction: {
    value: 0.05,
    unit: 'fraction of the lines',
    origin: 'lines with numbers that no source holds are dropped; more are an invention',
    configure: 'fixed',
  },
  statedIdentifierLimit: {
    value: 300,
    unit: 'identifiers',
    origin: 'what a generation hands on to the next for checking; the newest stay',
    configure: 'fixed',
  },
  statedIdentifierCharacters: {
    value: 200,
    unit: 'characters',
    origin: 'what is longer is a link or a key that no summary holds',
    configure: 'fixed',
  },
  identifierListCharacters: {
    value: 32 * 1_024,
    unit: 'characters',
    origin: 'a list of identifiers in a report: three leave a document far below 1 MiB',
    configure: 'fixed',
  },
  identifierDigits: {
    value: 5,
    unit: 'digits',
    origin: 'order, booking and account numbers; years and small amounts stay out',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;

/** Numbers of the budget for tool outputs. */
export const toolOutputConstants = {
  toolOutputBudgetTokens: {
    value: 50_000,
    unit: 'tokens',
    origin: 'Gemini CLI, all tool outputs of a history together',
    configure: policySetting('toolOutputBudgetTokens'),
  },
  toolOutputBudgetFraction: {
    value: 0.25,
    unit: 'fraction of the soft threshold',
    origin: 'leaves the tail inside 0.4 × threshold; 50,000 is reached at 200,000',
    configure: 'not used in the profile `gemini-cli`',
  },
  toolOutputBudgetMinimumTokens: {
    value: 1_000,
    unit: 'tokens',
    origin: 'room for one short result',
    configure: 'fixed',
  },
  toolOutputCapCharacters: {
    value: 40_000,
    unit: 'characters',
    origin: 'Gemini CLI #18446, one output',
    configure: 'argument of `applyToolOutputBudget`',
  },
  toolOutputHeadFraction: {
    value: 0.2,
    unit: 'fraction of the cap',
    origin: 'Gemini CLI: what failed stands at the end',
    configure: 'fixed',
  },
  toolOutputErrorFraction: {
    value: 0.5,
    unit: 'fraction of the cap',
    origin: 'error and warning blocks from the part left out',
    configure: 'fixed',
  },
  toolOutputCutMinimumCharacters: {
    value: 200,
    unit: 'characters',
    origin: 'a shorter cut says less than the marker alone',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
