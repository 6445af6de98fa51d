import type { ConstantTable } from '#shared/constant.ts';

import { policySetting } from './policy-constants.ts';

/** Numbers of the budget for tool outputs. */
export const toolOutputConstants = {
  toolOutputBudgetTokens: {
    value: 50_000,
    unit: 'tokens',
    origin: 'Gemini CLI, all tool outputs of a history together',
    configure: policySetting('toolOutputBudgetTokens'),
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
    configure: 'fixed',
  },
  toolOutputMinimumGainFraction: {
    value: 0.25,
    unit: 'fraction of the budget',
    origin: 'masks move in steps, so that the cached prefix stays; Gemini CLI: 30,000 of 50,000',
    configure: '0 in the profile `gemini-cli`',
  },
  toolOutputCapCharacters: {
    value: 40_000,
    unit: 'characters',
    origin: 'Gemini CLI #18446, one output',
    configure: 'fixed',
  },
  toolOutputCapLines: {
    value: 1_000,
    unit: 'lines',
    origin: 'Gemini CLI, one output: 200 + 800; a listing says little by its middle',
    configure: 'fixed',
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
  toolOutputMarkersFraction: {
    value: 0.75,
    unit: 'fraction of the budget',
    origin: 'what may go to naming left-out outputs; the newest have the rest to say something',
    configure: 'fixed',
  },
  masksBytes: {
    value: 400_000,
    unit: 'bytes of JSON',
    origin:
      'beside snapshot, archive and report below the 1 MiB of a document; 5,000 of one word fit',
    configure: 'fixed',
  },
  condensedFromCharacters: {
    value: 80_000,
    unit: 'characters',
    origin: 'Gemini CLI, distillation: twice the cap of one output; shorter ones are cut alone',
    configure: '`CONDENSE_TOOL_OUTPUTS`',
  },
  condensedToCharacters: {
    value: 1_000_000,
    unit: 'characters',
    origin: 'Gemini CLI, distillation: longer ones are cut alone',
    configure: 'fixed',
  },
  condensedRoomCharacters: {
    value: 1_000,
    unit: 'characters',
    origin: 'a cut with less room says too little to pay a model for saying it better',
    configure: 'fixed',
  },
  condensedOutputLimit: {
    value: 3,
    unit: 'outputs a compaction',
    origin: 'the largest; bounds what one compaction may cost, and all run at once',
    configure: 'fixed',
  },
  condensingTimeoutMs: {
    value: 15_000,
    unit: 'ms',
    origin: 'Gemini CLI, distillation: then the cut stands',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
