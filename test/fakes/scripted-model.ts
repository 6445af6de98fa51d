import { readSnapshot, type SnapshotSections } from '#shared/compaction/snapshot-text.ts';
import { contentText } from '#shared/models/content.ts';
import { geminiCliSections } from '#shared/conversation/documents/snapshot.ts';
import type {
  ModelGenerator,
  ModelRequest,
  ModelResponse,
  Prompt,
  TokenCounter,
} from '#shared/ports/ports.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { setImmediate } from 'node:timers/promises';

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

const otherSections: Readonly<Record<string, string>> = {
  artifact_trail: 'artifacts',
  file_system_state: 'artifacts',
};

/** What a snapshot says where a test does not care. */
const GOAL = 'Plan a trip together with the user.';
const ACTION = 'The assistant described several places.';
const WORDS_OF_ANSWER = 12;

/**
 * A line as a summariser says it that has read the history: what no test cares for has words of the first answer, or
 * it would be an invention.
 */
function aboutHistory(line: string, shown: string): string {
  if (line !== GOAL && line !== ACTION) return line;
  const said =
    /^(?:\[\d+\] )?model: (?!called )(.*)$/m.exec(shown) ?? /^\[\d+\] \w+: (.*)$/m.exec(shown);
  const words = (said?.[1]?.match(/\p{L}+/gu) ?? []).slice(0, WORDS_OF_ANSWER);
  return `${line.slice(0, -1)}: ${words.join(' ')}`;
}

/** The lines of a snapshot as operations that cite the first turn which the request shows. */
function operationsOf(sections: SnapshotSections, request: ModelRequest): object[] {
  const shown = request.contents.map(contentText).join('\n');
  const seq = Number(/^\[(\d+)\] \w/m.exec(shown)?.[1] ?? 1);
  const known = JSON.stringify(request.responseJsonSchema);
  return geminiCliSections.flatMap((name) =>
    sections[name]
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((text) => {
        const section = known.includes(`"${name}"`) ? name : otherSections[name];
        return { op: 'add', section, text: aboutHistory(text, shown), sources: [seq] };
      }),
  );
}

/** A snapshot in the format that the request asks for; any other text as it is. */
function inFormatAsked(text: string, request: ModelRequest): string {
  if (request.responseJsonSchema === undefined) return text;
  const reading = readSnapshot(text);
  return reading.ok
    ? JSON.stringify({ scratchpad: '', operations: operationsOf(reading.snapshot, request) })
    : text;
}

const responseOf = (answer: string | ModelResponse, request: ModelRequest): ModelResponse =>
  typeof answer === 'string'
    ? {
        parts: [{ text: inFormatAsked(answer, request) }],
        finishReason: 'STOP',
        usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 50, thoughtsTokens: 0 },
      }
    : answer;

/**
 * A model that gives `answers` in order and the last one from then on; a snapshot is given as operations
 * where these are asked for. `countTokens` estimates unless `count` says otherwise.
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
      const given = typeof answer === 'function' ? await answer(request, signal) : answer;
      return responseOf(given, request);
    },
    async countTokens(prompt) {
      counted.push(prompt);
      await setImmediate();
      return script.count ? script.count(prompt) : estimatePromptTokens(prompt, 'character-class');
    },
  };
}

/** What a model answers that says nothing until its call is given up. */
export function untilAborted(signal: AbortSignal): Promise<string> {
  const { promise, reject } = Promise.withResolvers<string>();
  signal.addEventListener('abort', () => reject(signal.reason));
  return promise;
}

/** An answer in the summariser's format that says what `knowledge` says. */
export const snapshotAnswer = (knowledge = 'The user plans a trip to Busan in May.') =>
  [
    '<scratchpad>The user asks, the assistant answers.</scratchpad>',
    '<state_snapshot>',
    `<overall_goal>${GOAL}</overall_goal>`,
    '<active_constraints>The user eats no meat.</active_constraints>',
    `<key_knowledge>${knowledge}</key_knowledge>`,
    '<artifact_trail></artifact_trail>',
    '<file_system_state></file_system_state>',
    `<recent_actions>${ACTION}</recent_actions>`,
    '<task_state>IN PROGRESS: choose a hotel.</task_state>',
    '</state_snapshot>',
  ].join('\n');
