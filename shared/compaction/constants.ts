import type { ConstantTable } from '#shared/lib/constant.ts';

/** As the table of constants names a setting of the policy. */
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
  },
  overflowTargetFraction: {
    value: 0.5,
    unit: 'fraction of the window',
    origin: 'after an overflow the newest turn is folded too if less would leave more than this',
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
  },
  stalledSwaps: {
    value: 2,
    unit: 'swaps in a row',
    origin: 'without progress; Gemini CLI compressed 8 of 8 turns and nothing got smaller',
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
  },
  inflatedMessageTokens: {
    value: 50_000,
    unit: 'tokens',
    origin: 'Gemini CLI words the message differently from here on',
  },
} as const satisfies ConstantTable;

/** Numbers of what the summariser writes, of its check and of the room that it has. */
export const engineConstants = {
  answerCharacters: {
    value: 400_000,
    unit: 'characters',
    origin: 'far above the bound of an answer in tokens; keeps reading bounded',
  },
  attachmentCharacters: {
    value: 10_000_000,
    unit: 'characters of base64',
    origin:
      'Gemini takes requests up to 20 MB with inline data; the text of a chunk needs room too',
  },
  operationLimit: {
    value: 500,
    unit: 'operations an answer',
    origin: 'several times what the largest snapshot holds; the rest is counted as skipped',
  },
  invalidOperationFraction: {
    value: 0.5,
    unit: 'fraction of the operations',
    origin: 'single bad operations are skipped; an answer with more did not understand the task',
  },
  itemTextCharacters: {
    value: 1_500,
    unit: 'characters',
    origin: 'more than twice what the prompt asks for; what is longer is cut behind a clause',
  },
  topicTitleCharacters: {
    value: 60,
    unit: 'characters',
    origin: 'a line of the timeline names a topic and tells nothing of it',
  },
  topicCharacters: {
    value: 1_000,
    unit: 'characters of room for each topic of a fold',
    origin: 'three folds fill the tenth of the room that the timeline has',
  },
  topicMinimum: { value: 4, unit: 'topics a fold', origin: 'fewer tell no order' },
  constraintQuoteCharacters: {
    value: 4,
    unit: 'characters',
    origin: 'a shorter sentence says nothing alone (ideographs, kana and Hangul count twice)',
  },
  withdrawalQuoteCharacters: {
    value: 8,
    unit: 'characters',
    origin: 'ending a rule takes more of the user’s words than making one, or the whole message',
  },
  constraintCharacters: {
    value: 1_000,
    unit: 'characters',
    origin: 'several long sentences; a longer quote is a text that the user shows',
  },
  unsaidValueFraction: {
    value: 0.5,
    unit: 'fraction of the values of new statements',
    origin: 'an answer of which nobody said more is about another conversation',
  },
  unsaidValueMinimum: { value: 3, unit: 'values', origin: 'fewer are slips' },
  talkWordFraction: {
    value: 0.6,
    unit: 'fraction of the words',
    origin: 'a goal or a step with more of the words of user and model than this is theirs',
  },
  toolWordFraction: {
    value: 0.7,
    unit: 'fraction of the words',
    origin:
      'one that is not, with this many words of the cited turns, is a tool’s: it is kept as knowledge',
  },
  strangerWordFraction: {
    value: 0.875,
    unit: 'fraction of the words',
    origin:
      'a clause with this many of its words close together in what a tool says, and not in what the user says, is the tool’s whoever repeats it',
  },
  strangerClauseFraction: {
    value: 0.75,
    unit: 'fraction of the words',
    origin:
      'a statement with this many of its words in clauses of a tool is a page that was copied',
  },
  archiveItemLimit: {
    value: 400,
    unit: 'items',
    origin: 'bounds the history document; what leaves is still found in the transcript',
  },
  archiveCharacters: {
    value: 60_000,
    unit: 'characters of JSON',
    origin: 'with three bytes a character far below the 1 MiB of a document',
  },
  constraintRoomFraction: {
    value: 0.35,
    unit: 'fraction of the room',
    origin: 'with more of them nothing else has room: the oldest of least importance go',
  },
  timelineRoomFraction: {
    value: 0.1,
    unit: 'fraction of the room',
    origin: 'the order of what came up; older lines go to the archive',
  },
  roomGrowth: {
    value: 0.25,
    unit: 'of the budget for each of the next two folds',
    origin: 'three folds have more to say than one; then the room stands',
  },
  roomGrowthFolds: {
    value: 2,
    unit: 'folds',
    origin: 'a summary must not grow with what it covers',
  },
  newShare: {
    value: 0.35,
    unit: 'fraction of the room',
    origin:
      'what a fold may say at least where the room is full (of the second one half): as much leaves for the archive',
  },
  roomOvershoot: {
    value: 1.15,
    unit: '× room',
    origin: 'models write a little more than they are told; what they chose stays',
  },
  roomOfFolded: {
    value: 0.85,
    unit: 'fraction of what is replaced',
    origin: 'a context must get smaller',
  },
  roomFloorTokens: { value: 300, unit: 'tokens', origin: 'below it the sections have no room' },
  reportListLimit: {
    value: 50,
    unit: 'entries',
    origin: 'each list of a report; counts are complete',
  },
  reportTextCharacters: { value: 200, unit: 'characters', origin: 'a sentence in a report' },
  fallbackLineCharacters: {
    value: 300,
    unit: 'characters',
    origin: 'the beginning of a message where no model says what it is about',
  },
} as const satisfies ConstantTable;

/** Numbers of the snapshot and of its reader. */
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
  },
  snapshotBudgetMaximumTokens: {
    value: 8_192,
    unit: 'tokens',
    origin: 'fixed ceiling: a summary must not grow with what it covers',
  },
  snapshotCeilingFactor: {
    value: 2,
    unit: '× snapshot budget',
    origin: 'models overshoot a stated size; twice is refused',
  },
  snapshotFloorTokens: {
    value: 10,
    unit: 'tokens',
    origin: 'less is a refusal or an accident, not a memory',
  },
  summaryOutputTokens: {
    value: 32_768,
    unit: 'tokens',
    origin: 'thoughts + scratchpad + the largest snapshot: models bill thoughts as output',
  },
  summaryOutputWindowFraction: {
    value: 0.25,
    unit: 'fraction of the summariser’s window',
    origin: 'leaves a small window room for what is summarised',
  },
  summariserPartialFraction: {
    value: 0.6,
    unit: 'fraction of the summariser’s window',
    origin: 'what a small window may hold of the turns, and a large one when not all of them fit',
  },
  hookNoteTokens: {
    value: 2_000,
    unit: 'tokens',
    origin: 'notes of hooks say what matters, they bring no history of their own',
  },
  hookNoteWindowFraction: {
    value: 0.05,
    unit: 'fraction of the summariser’s window',
    origin: 'a small window stays for the turns',
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
  },
} as const satisfies ConstantTable;
