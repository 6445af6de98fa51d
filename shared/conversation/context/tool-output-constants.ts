import type { ConstantTable } from '#shared/lib/constant.ts';

/** Numbers of the budget for tool outputs. */
export const toolOutputConstants = {
  toolOutputBudgetTokens: {
    value: 50_000,
    unit: 'tokens',
    origin: 'Gemini CLI, all tool outputs of a history together',
    configure: 'policy setting `toolOutputBudgetTokens`',
  },
  toolOutputBudgetFraction: {
    value: 1 / 6,
    unit: 'fraction of the soft threshold',
    origin: 'as the tail, so that a turn with one long output stays; 50,000 is reached at 300,000',
    configure: 'not used in the profile `gemini-cli`',
  },
  toolOutputBudgetMinimumTokens: {
    value: 1_000,
    unit: 'tokens',
    origin: 'room for one short result',
  },
  toolOutputMinimumGainFraction: {
    value: 0.25,
    unit: 'fraction of the budget',
    origin:
      'outputs are shortened in steps, so that the cached prefix stays; Gemini CLI: 30,000 of 50,000',
    configure: '0 in the profile `gemini-cli`',
  },
  toolOutputCapCharacters: {
    value: 40_000,
    unit: 'characters',
    origin: 'Gemini CLI #18446, one output',
  },
  toolOutputCapLines: {
    value: 1_000,
    unit: 'lines',
    origin: 'Gemini CLI, one output: 200 + 800; a listing says little by its middle',
  },
  toolOutputHeadFraction: {
    value: 0.2,
    unit: 'fraction of the cap',
    origin: 'Gemini CLI: what failed stands at the end',
  },
  toolOutputErrorFraction: {
    value: 0.5,
    unit: 'fraction of the cap',
    origin: 'error and warning blocks from the part left out',
  },
  toolOutputCutMinimumCharacters: {
    value: 200,
    unit: 'characters',
    origin: 'a shorter cut says less than the marker alone',
  },
  toolOutputMarkersFraction: {
    value: 0.75,
    unit: 'fraction of the budget',
    origin: 'what may go to naming left-out outputs; the newest have the rest to say something',
  },
  condensedToCharacters: {
    value: 1_000_000,
    unit: 'characters',
    origin: 'Gemini CLI, distillation: longer ones are cut alone',
    configure: '`CONDENSE_TOOL_OUTPUTS`',
  },
  condensedRoomCharacters: {
    value: 1_000,
    unit: 'characters',
    origin: 'a cut with less room says too little to pay a model for saying it better',
  },
  condensedOutputLimit: {
    value: 3,
    unit: 'outputs a round',
    origin: 'the largest; bounds what one round may cost, and all run at once',
  },
  condensingTimeoutMs: {
    value: 15_000,
    unit: 'ms',
    origin: 'Gemini CLI, distillation: then the cut stands',
  },
} as const satisfies ConstantTable;
