import type { Sampling } from '#shared/models/answer-options.ts';
import { modelName } from '#shared/models/model-entry.ts';

type Level = NonNullable<Sampling['thinkingLevel']>;

/** Tokens of thoughts, as Google's own endpoint for clients of OpenAI translates `reasoning_effort`. */
const BUDGETS: Record<Level, number> = { minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576 };

/** Models up to 2.5 have a budget of tokens, later ones levels; of those, "pro" models and Gemini 4 refuse the lowest one. */
export function toThinkingConfig(model: string, level: Level): Record<string, unknown> {
  const name = modelName(model);
  if (/^gemini-[12]\b/.test(name)) return { thinkingBudget: BUDGETS[level] };
  const isLeastLow = /\bpro\b|^gemini-4\b/.test(name);
  return { thinkingLevel: (isLeastLow && level === 'minimal' ? 'low' : level).toUpperCase() };
}
