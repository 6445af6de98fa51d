/** Numbers of the budget for tool outputs. */
export const toolOutputConstants = {
  /** Tokens: Gemini CLI, all tool outputs of a history together (policy setting `toolOutputBudgetTokens`). */
  toolOutputBudgetTokens: 50_000,
  /**
   * Fraction of the soft threshold: as the tail, so that a turn with one long output stays; 50,000 is reached at
   * 300,000 (not used in the profile `gemini-cli`).
   */
  toolOutputBudgetFraction: 1 / 6,
  /** Tokens: room for one short result. */
  toolOutputBudgetMinimumTokens: 1_000,
  /**
   * Fraction of the budget: outputs are shortened in steps, so that the cached prefix stays; Gemini CLI: 30,000 of
   * 50,000 (0 in the profile `gemini-cli`).
   */
  toolOutputMinimumGainFraction: 0.25,
  /** Characters: Gemini CLI #18446, one output. */
  toolOutputCapCharacters: 40_000,
  /** Lines: Gemini CLI, one output: 200 + 800; a listing says little by its middle. */
  toolOutputCapLines: 1_000,
  /** Fraction of the cap: Gemini CLI: what failed stands at the end. */
  toolOutputHeadFraction: 0.2,
  /** Fraction of the cap: error and warning blocks from the part left out. */
  toolOutputErrorFraction: 0.5,
  /** Characters: a shorter cut says less than the marker alone. */
  toolOutputCutMinimumCharacters: 200,
  /** Fraction of the budget: what may go to naming left-out outputs; the newest have the rest to say something. */
  toolOutputMarkersFraction: 0.75,
  /** Characters: Gemini CLI, distillation: longer ones are cut alone (`CONDENSE_TOOL_OUTPUTS`). */
  condensedToCharacters: 1_000_000,
  /** Characters: a cut with less room says too little to pay a model for saying it better. */
  condensedRoomCharacters: 1_000,
  /** Outputs a round: the largest; bounds what one round may cost, and all run at once. */
  condensedOutputLimit: 3,
  /** Ms: Gemini CLI, distillation: then the cut stands. */
  condensingTimeoutMs: 15_000,
};
