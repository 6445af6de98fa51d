import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { toolOutputConstants } from '#shared/compaction/tool-output-constants.ts';
import {
  differsFromShown,
  outputTokensOf,
  promptSchema,
  type ShownPrompt,
} from './tool-prompts.ts';
import type { ToolScript } from './tool-script.ts';

/** Masks stay as they are until new ones free a step more: a compaction leaves at most so many budgets. */
const BUDGET_AND_STEP = 1 + toolOutputConstants.toolOutputMinimumGainFraction.value;

/** What came of one recorded dialogue. */
export interface ToolReplay {
  id: string;
  turns: number;
  calls: number;
  parallel: number;
  stopped: number;
  filled: number;
  /** Requests to the model, summaries included. */
  prompts: number;
  refusals: string[];
  failures: string[];
  transcript: string[];
  /** Tokens that all tool outputs together may have in a context, by the policy. */
  outputBudgetTokens: number;
  /** Of the tool outputs in one prompt, the most. */
  mostOutputTokens: number;
  /** Prompts whose tool outputs have more than the budget: they grow until the next compaction. */
  overBudget: number;
  /** First prompts after a compaction, and those of them in which the outputs are over budget and step. */
  afterSwap: { prompts: number; overBudget: number };
  contexts: { compared: number; different: string[] };
  /** By state and reason. */
  compactions: Record<string, number>;
  errors: string[];
}

/** Of a dialogue of which nothing has been sent. */
export const nothingYet = (id: string, script: ToolScript): ToolReplay => ({
  id,
  turns: script.turns.length,
  calls: script.turns.reduce((sum, { calls }) => sum + calls.length, 0),
  parallel: script.parallel,
  stopped: script.turns.filter(({ isStopped }) => isStopped).length,
  filled: script.turns.filter(({ isFilled }) => isFilled).length,
  prompts: 0,
  refusals: [],
  failures: [],
  transcript: [],
  outputBudgetTokens: 0,
  mostOutputTokens: 0,
  overBudget: 0,
  afterSwap: { prompts: 0, overBudget: 0 },
  contexts: { compared: 0, different: [] },
  compactions: {},
  errors: [],
});

/** What stood before a message was sent. */
interface Before {
  shown: ShownPrompt;
  /** A compaction has made another context of it since the message before. */
  isSwapped: boolean;
}

/** Judges all that the model was asked since the turn began. */
export function judgePrompts(
  { fakeGemini, found }: { fakeGemini: FakeGemini; found: ToolReplay },
  seq: number,
  before: Before,
): void {
  const asked = fakeGemini.journal();
  found.prompts += asked.length;
  found.refusals.push(
    ...asked.flatMap(({ refusal, role }) => (refusal ? [`turn ${seq}, ${role}: ${refusal}`] : [])),
  );
  for (const [index, { n }] of asked.filter(({ role }) => role === 'chat').entries()) {
    const prompt = promptSchema.parse(fakeGemini.requestBody(n));
    const tokens = outputTokensOf(prompt);
    found.mostOutputTokens = Math.max(found.mostOutputTokens, tokens);
    if (tokens > found.outputBudgetTokens) found.overBudget += 1;
    if (index > 0) continue;
    if (before.isSwapped) {
      found.afterSwap.prompts += 1;
      if (tokens > BUDGET_AND_STEP * found.outputBudgetTokens) found.afterSwap.overBudget += 1;
    }
    const difference = differsFromShown(prompt, before.shown);
    found.contexts.compared += 1;
    if (difference !== undefined) found.contexts.different.push(`turn ${seq}: ${difference}`);
  }
}
