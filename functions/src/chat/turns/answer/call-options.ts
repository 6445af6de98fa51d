import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';

/**
 * What of a message's options goes into one call of the model. A function that has to be called is called once: after
 * `rounds` rounds the model is free to answer. Without `mayCall` it calls none, whatever was chosen.
 */
export function callOptions(
  { sampling, maxOutputTokens, toolChoice }: AnswerOptions,
  { rounds, mayCall }: { rounds: number; mayCall: boolean },
): Pick<ModelRequest, 'sampling' | 'maxOutputTokens' | 'toolChoice'> {
  const isChosen = toolChoice === 'none' || (toolChoice !== undefined && rounds === 0);
  const choice = mayCall ? (isChosen ? toolChoice : undefined) : 'none';
  return {
    ...(sampling && { sampling }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(choice && { toolChoice: choice }),
  };
}
