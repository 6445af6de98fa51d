import { z } from 'zod';
import { GROUNDING_TOOLS } from '#shared/grounding/grounding.ts';
import { integer, list, listOr } from './config-values.ts';
import { RECALL_TOKENS_DEFAULT, RECALL_TOKENS_MAX } from '#shared/recall/segment.ts';

/** Tools that the server brings along; which of them it offers, BUILT_IN_TOOLS says. */
const BUILT_IN_TOOL_NAMES = [
  'recall_history',
  'read_blob',
  'save_memory',
  'forget_memory',
] as const;
/** What the model may call, and how often within one answer. */
export const toolVariables = {
  BUILT_IN_TOOLS: listOr(BUILT_IN_TOOL_NAMES.join(','))
    .pipe(z.array(z.enum(BUILT_IN_TOOL_NAMES)))
    .describe(
      'Comma-separated tools of the server that the model may call where they are of use, or none: recall_history looks folded turns up, read_blob reads shortened tool outputs, save_memory and forget_memory keep and drop notes about the user.',
    ),
  GROUNDING: list
    .pipe(z.array(z.enum(GROUNDING_TOOLS)))
    .describe(
      'Comma-separated tools of Google that models may use for an answer: search (Google Search; each search costs) and url (reads the addresses that a message names). None where it is not set.',
    ),
  RECALL_TOKENS: integer(RECALL_TOKENS_DEFAULT, { min: 0, max: RECALL_TOKENS_MAX }).describe(
    'What of the folded turns is brought back with each message that is about them, tokens at most; conversations and messages may ask for less. 0 = nothing.',
  ),
  TOOL_ROUNDS: integer(10, { min: 1, max: 1_000 }).describe(
    'Rounds of tool calls in one answer; then the model has to answer with what there is.',
  ),
};
