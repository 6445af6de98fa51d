import { setImmediate } from 'node:timers/promises';
import { estimatePromptTokens } from '../../shared/compaction/token-estimate.ts';
import type {
  ModelGenerator,
  ModelRequest,
  ModelResponse,
  Prompt,
  TokenCounter,
} from '../../shared/ports.ts';

/** What one call of `generate` does: answer with a text that ends in STOP, answer, throw, or decide. */
export type ScriptedAnswer =
  | string
  | ModelResponse
  | Error
  | ((request: ModelRequest, signal: AbortSignal) => Promise<string | ModelResponse>);

export interface ScriptedModel extends ModelGenerator, TokenCounter {
  /** The requests of `generate` so far. */
  readonly calls: ModelRequest[];
  readonly counted: Prompt[];
}

const responseOf = (answer: string | ModelResponse): ModelResponse =>
  typeof answer === 'string'
    ? {
        parts: [{ text: answer }],
        finishReason: 'STOP',
        usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 50, thoughtsTokens: 0 },
      }
    : answer;

/**
 * A model that gives `answers` in order and the last one from then on. `countTokens` estimates unless
 * `count` says otherwise.
 */
export function createScriptedModel(script: {
  answers: readonly ScriptedAnswer[];
  count?: (prompt: Prompt) => Promise<number>;
}): ScriptedModel {
  const calls: ModelRequest[] = [];
  const counted: Prompt[] = [];
  return {
    calls,
    counted,
    async generate(request, signal) {
      const answer = script.answers[Math.min(calls.length, script.answers.length - 1)] ?? '';
      calls.push(request);
      await setImmediate();
      signal.throwIfAborted();
      if (answer instanceof Error) throw answer;
      return responseOf(typeof answer === 'function' ? await answer(request, signal) : answer);
    },
    async countTokens(prompt) {
      counted.push(prompt);
      await setImmediate();
      return script.count ? script.count(prompt) : estimatePromptTokens(prompt, 'character-class');
    },
  };
}

/** An answer in the summariser's format that says what `knowledge` says. */
export const snapshotAnswer = (knowledge = 'The user plans a trip to Busan in May.') =>
  [
    '<scratchpad>The user asks, the assistant answers.</scratchpad>',
    '<state_snapshot>',
    '<overall_goal>Plan a trip together with the user.</overall_goal>',
    '<active_constraints>The user eats no meat.</active_constraints>',
    `<key_knowledge>${knowledge}</key_knowledge>`,
    '<artifact_trail></artifact_trail>',
    '<file_system_state></file_system_state>',
    '<recent_actions>The assistant described several places.</recent_actions>',
    '<task_state>IN PROGRESS: choose a hotel.</task_state>',
    '</state_snapshot>',
  ].join('\n');
