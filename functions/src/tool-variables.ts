import { integer } from './config-values.ts';

/** Limits of what the model may call within one answer. */
export const toolVariables = {
  TOOL_ROUNDS: integer(10, { min: 1, max: 1_000 }).describe(
    'Rounds of tool calls in one answer; then the model has to answer with what there is.',
  ),
  CODING_TOOL_ROUNDS: integer(200, { min: 1, max: 1_000 }).describe(
    'The same in conversations of the profile coding.',
  ),
  TOOL_RESULT_TIMEOUT_MS: integer(900_000, { min: 1_000, max: 86_400_000 }).describe(
    'How long an answer waits for the app to answer the model’s calls, ms; then they have expired.',
  ),
};
