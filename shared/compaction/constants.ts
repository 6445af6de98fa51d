/*
 * Each with its unit, where it comes from, and in brackets what changes it. `npm run generate` puts the comments into
 * docs/reference/constants.md.
 */

/** Numbers of the decision to compact, of the swap and of the breaker. */
export const policyConstants = {
  /** Fraction of the window: Gemini CLI since #13517 (policy setting `thresholdFraction`). */
  thresholdFraction: 0.5,
  /**
   * Tokens: cost model: the optimum lies at 6–19 k; 24 k buys fidelity for 1.5 × the cheapest (policy setting
   * `thresholdTokens`; the row of a model).
   */
  thresholdTokens: 24_000,
  /**
   * Tokens: as `thresholdTokens`, in the profile `coding`: with nine prompts of ten cached two recorded sessions cost
   * 1.4 and 1.5 × the cheapest threshold (12,000), and the last snapshot carries 13 and 22 % of what was folded, at
   * 24,000 8 and 19 % (policy setting `thresholdTokens`; the row of a model).
   */
  codingThresholdTokens: 48_000,
  /**
   * Tokens: as `tailTokens`, in the profile `coding`: a step with its tool output takes about 1,000 tokens, so that
   * 4,000 would hold 4 to 7 steps (policy setting `tailTokens`).
   */
  codingTailTokens: 8_000,
  /**
   * Fraction of the soft threshold: a habit of one user says little about what a threshold costs (with `learnThreshold`
   * in `config/compaction`).
   */
  learnedShiftMaximum: 0.1,
  /** × soft threshold: one more threshold of growth while a compaction is on its way (follows the soft threshold). */
  hardThresholdFactor: 2,
  /** Fraction of the window: more system instruction and tools than conversation is a mistake of configuration. */
  overheadFraction: 0.5,
  /**
   * Fraction of the tokens before: ends loops of compactions that save next to nothing (0 in the profile `gemini-cli`).
   */
  minimumSavingFraction: 0.3,
  /** Fraction of what the window has left: a request may fill this much of it: Gemini CLI before its #16914. */
  overflowFraction: 0.95,
  /** Fraction of the window: after an overflow the newest turn is folded too if less would leave more than this. */
  overflowTargetFraction: 0.5,
  /**
   * Fraction of the soft threshold: what a swap saves at least, beside its share: a summary is not free (0 in the
   * profile `gemini-cli`).
   */
  minimumSavingThresholdFraction: 0.25,
  /**
   * Tokens: pins ≤ 1 k + snapshot ≤ 2.4 k + tail ≤ 4 k stay below 0.4 × 24 k (policy setting `tailTokens`; a sixth of
   * the soft threshold at most).
   */
  tailTokens: 4_000,
  /**
   * Fraction of the soft threshold: 4,000 of 24,000: the longest tail of any threshold (follows the soft threshold).
   */
  tailFraction: 1 / 6,
  /**
   * Fraction of the soft threshold: room for a second turn, and from here on a single one is folded inside (follows the
   * soft threshold).
   */
  tailCapFraction: 0.25,
  /** Fraction of the tail: a tail of one short answer loses what was being done (follows the tail). */
  minimumTailFraction: 0.25,
  /** Model calls: four at once, four times: within the time of one compaction; what is left follows. */
  maximumChunks: 16,
  /** Swaps in a row: without progress; Gemini CLI compressed 8 of 8 turns and nothing got smaller. */
  stalledSwaps: 2,
  /**
   * Fraction of the soft threshold: new tokens needed between two automatic compactions (0 in the profile
   * `gemini-cli`).
   */
  rearmFraction: 0.25,
  /**
   * Fraction of the JSON characters: Gemini CLI: the newest 30 % stay verbatim (fixed; strategy `gemini-cli` alone).
   */
  preserveFraction: 0.3,
  /**
   * Failures in a row: one failure is often an accident, three are a state (policy setting `breakerFailures`; 1 in the
   * profile `gemini-cli`).
   */
  breakerFailures: 3,
  /** Milliseconds: a latch without expiry would last as long as the conversation (policy setting `breakerOpenMs`). */
  breakerOpenMs: 30 * 60_000,
  /**
   * Fraction of the conversation when the breaker opened: a history that has grown by half is another one: one try,
   * whatever the pause.
   */
  breakerGrowthFraction: 0.5,
  /** Tokens: Gemini CLI words the message differently from here on. */
  inflatedMessageTokens: 50_000,
};

/** Numbers of what the summariser writes, of its check and of the room that it has. */
export const engineConstants = {
  /** Characters: far above the bound of an answer in tokens; keeps reading bounded. */
  answerCharacters: 400_000,
  /** Characters of base64: Gemini takes requests up to 20 MB with inline data; the text of a chunk needs room too. */
  attachmentCharacters: 10_000_000,
  /** Operations an answer: several times what the largest snapshot holds; the rest is counted as skipped. */
  operationLimit: 500,
  /** Fraction of the operations: single bad operations are skipped; an answer with more did not understand the task. */
  invalidOperationFraction: 0.5,
  /** Characters: more than twice what the prompt asks for; what is longer is cut behind a clause. */
  itemTextCharacters: 1_500,
  /** Characters: a line of the timeline names a topic and tells nothing of it. */
  topicTitleCharacters: 60,
  /** Characters of room for each topic of a fold: three folds fill the tenth of the room that the timeline has. */
  topicCharacters: 1_000,
  /** Topics a fold: fewer tell no order. */
  topicMinimum: 4,
  /** Characters: a shorter sentence says nothing alone (ideographs, kana and Hangul count twice). */
  constraintQuoteCharacters: 4,
  /** Characters: ending a rule takes more of the user’s words than making one, or the whole message. */
  withdrawalQuoteCharacters: 8,
  /** Characters: several long sentences; a longer quote is a text that the user shows. */
  constraintCharacters: 1_000,
  /** Fraction of the values of new statements: an answer of which nobody said more is about another conversation. */
  unsaidValueFraction: 0.5,
  /** Values: fewer are slips. */
  unsaidValueMinimum: 3,
  /** Fraction of the words: a goal or a step with more of the words of user and model than this is theirs. */
  talkWordFraction: 0.6,
  /**
   * Fraction of the words: one that is not, with this many words of the cited turns, is a tool’s: it is kept as
   * knowledge.
   */
  toolWordFraction: 0.7,
  /**
   * Fraction of the words: a clause with this many of its words close together in what a tool says, and not in what the
   * user says, is the tool’s whoever repeats it.
   */
  strangerWordFraction: 0.875,
  /** Fraction of the words: a statement with this many of its words in clauses of a tool is a page that was copied. */
  strangerClauseFraction: 0.75,
  /** Items: bounds the history document; what leaves is still found in the transcript. */
  archiveItemLimit: 400,
  /** Characters of JSON: with three bytes a character far below the 1 MiB of a document. */
  archiveCharacters: 60_000,
  /** Fraction of the room: with more of them nothing else has room: the oldest of least importance go. */
  constraintRoomFraction: 0.35,
  /** Fraction of the room: the order of what came up; older lines go to the archive. */
  timelineRoomFraction: 0.1,
  /** Of the budget for each of the next two folds: three folds have more to say than one; then the room stands. */
  roomGrowth: 0.25,
  /** Folds: a summary must not grow with what it covers. */
  roomGrowthFolds: 2,
  /**
   * Fraction of the room: what a fold may say at least where the room is full (of the second one half): as much leaves
   * for the archive.
   */
  newShare: 0.35,
  /** × room: models write a little more than they are told; what they chose stays. */
  roomOvershoot: 1.15,
  /** Fraction of what is replaced: a context must get smaller. */
  roomOfFolded: 0.85,
  /** Tokens: below it the sections have no room. */
  roomFloorTokens: 300,
  /** Entries: each list of a report; counts are complete. */
  reportListLimit: 50,
  /** Characters: a sentence in a report. */
  reportTextCharacters: 200,
  /** Characters: the beginning of a message where no model says what it is about. */
  fallbackLineCharacters: 300,
};

/** Numbers of the snapshot and of its reader. */
export const snapshotConstants = {
  /** Fraction of the soft threshold: snapshot + tail come to about 0.4 × threshold (follows the soft threshold). */
  snapshotBudgetFraction: 0.1,
  /** Tokens: below it seven sections have no room. */
  snapshotBudgetMinimumTokens: 400,
  /** Tokens: fixed ceiling: a summary must not grow with what it covers. */
  snapshotBudgetMaximumTokens: 8_192,
  /** × snapshot budget: models overshoot a stated size; twice is refused. */
  snapshotCeilingFactor: 2,
  /** Tokens: less is a refusal or an accident, not a memory. */
  snapshotFloorTokens: 10,
  /** Tokens: thoughts + scratchpad + the largest snapshot: models bill thoughts as output. */
  summaryOutputTokens: 32_768,
  /** Fraction of the summariser’s window: leaves a small window room for what is summarised. */
  summaryOutputWindowFraction: 0.25,
  /**
   * Fraction of the summariser’s window: what a small window may hold of the turns, and a large one when not all of
   * them fit.
   */
  summariserPartialFraction: 0.6,
  /** Tokens: notes of hooks say what matters, they bring no history of their own. */
  hookNoteTokens: 2_000,
  /** Fraction of the summariser’s window: a small window stays for the turns. */
  hookNoteWindowFraction: 0.05,
  /** Characters: twice the largest ceiling plus a scratchpad (argument of `readSnapshot`). */
  snapshotAnswerMaximumCharacters: 400_000,
  /** Opening tags tried: keeps reading linear for hostile answers. */
  snapshotCandidateLimit: 32,
};
