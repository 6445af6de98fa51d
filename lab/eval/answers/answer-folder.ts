import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contentUnits, overheadUnits, toTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import { ArgumentError } from '#infra/command-line.ts';
import type { ModelGenerator, Prompt, TokenCounter } from '#shared/ports/ports.ts';
import {
  answerFile,
  findAnswer,
  placeName,
  promptHash,
  promptName,
  promptText,
  readPromptId,
  type AskedRequest,
  type FoundAnswer,
  type PromptPlace,
} from './prompts.ts';

/** A prompt that was asked. */
interface AskedPrompt {
  /** Under which it is written where nothing answers it. */
  name: string;
  place: PromptPlace;
  /** Absent: no answer is there. */
  answer?: FoundAnswer;
}

/** What a reader or the judge is asked. */
interface AskedText {
  kind: 'reader' | 'judge';
  number: number;
  text: string;
}

/** An answer without the fence that models like to put around JSON. */
const withoutFence = (text: string): string =>
  text.trim().replaceAll(/^```(?:json)?\n?|\n?```$/gu, '');

/** No answer is recorded for a prompt: what follows from it cannot be known. */
export class AnswerMissingError extends Error {}

/** The answers of a model as files, and the prompts that have none yet. */
export class AnswerFolder {
  readonly #folder: string;
  /** Whether answers are also found by place, where none is for exactly this prompt. */
  readonly #isLoose: boolean;
  #current = { id: '', strategy: '', generation: 1 };
  readonly #asked = new Map<string, AskedPrompt>();
  /** Of the conversation, by hash: the same prompt asked again gets the same answer. */
  readonly #ofConversation = new Map<string, AskedPrompt>();

  /** The folder is made with the first prompt that has no answer. Throws ArgumentError for a file. */
  constructor(folder: string, isLoose = false) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new ArgumentError(`--answers ${folder} is no folder: name the folder of the answers`);
    this.#folder = folder;
    this.#isLoose = isLoose;
  }

  /** From now on prompts are of this conversation, in its first generation. */
  beginConversation(conversation: Pick<PromptPlace, 'id' | 'strategy'>): void {
    this.#current = { ...conversation, generation: 1 };
    this.#ofConversation.clear();
  }

  beginGeneration(generation: number): void {
    this.#current = { ...this.#current, generation };
  }

  async #lookUp(place: PromptPlace, hash: string): Promise<AskedPrompt> {
    const files = await readdir(this.#folder).catch(() => []);
    const answer = findAnswer(files, { place, hash, isLoose: this.#isLoose });
    return { name: promptName({ place, hash }), place, ...(answer && { answer }) };
  }

  #promptPath({ name }: AskedPrompt): string {
    return join(this.#folder, `${name}.prompt.md`);
  }

  /** The recorded answer; undefined where there is none, and the prompt is written in its place. */
  async answer(request: AskedRequest): Promise<string | undefined> {
    const text = promptText(request);
    const hash = promptHash(text);
    const place = { ...this.#current, ...readPromptId(request.promptId) };
    const prompt = this.#ofConversation.get(hash) ?? (await this.#lookUp(place, hash));
    this.#ofConversation.set(hash, prompt);
    this.#asked.set(prompt.name, prompt);
    if (prompt.answer !== undefined)
      return withoutFence(
        await readFile(join(this.#folder, answerFile(prompt.answer.name)), 'utf8'),
      );
    await mkdir(this.#folder, { recursive: true });
    await writeFile(this.#promptPath(prompt), text);
    return undefined;
  }

  /** Asks a reader or the judge; `number`: which of several, from 1. Throws AnswerMissingError after the prompt was written. */
  async ask({ kind, number, text }: AskedText): Promise<string> {
    const answer = await this.answer({
      promptId: `compress-0-${kind}-${number}`,
      contents: [{ role: 'user', parts: [{ text }] }],
    });
    if (answer === undefined) throw new AnswerMissingError(`no answer is recorded for a ${kind}`);
    return answer.trim();
  }

  /** Whether the conversation cannot go on before somebody has answered. */
  isWaiting(): boolean {
    return [...this.#ofConversation.values()].some(({ answer }) => answer === undefined);
  }

  #missing(): AskedPrompt[] {
    const missing = [...this.#asked.values()].filter(({ answer }) => answer === undefined);
    return missing.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Says which answers are older than their prompts, and what to write where; empty where all is answered exactly. */
  describe(): string {
    const missing = this.#missing();
    const stale = [...this.#asked.values()].filter(({ answer }) => answer?.by === 'place');
    const places = stale.map(({ place }) => placeName(place)).toSorted();
    const lines = [
      ...(places.length > 0
        ? [`found by place, their prompts have changed: ${places.join(', ')}`]
        : []),
      ...(missing.length > 0
        ? [
            'prompts without an answer:',
            ...missing.map((prompt) => `  ${this.#promptPath(prompt)}`),
            `Read each alone, write its answer beside it as ${answerFile('NAME')}, and run the command again.`,
          ]
        : []),
    ];
    return lines.map((line) => `${line}\n`).join('');
  }

  /** Of the command: 0 good, 1 not, 3 where a prompt has no answer: then nobody knows yet. */
  exitCode(isGood: boolean): 0 | 1 | 3 {
    if (this.#missing().length > 0) return 3;
    return isGood ? 0 : 1;
  }
}

/**
 * The results of all, one after the other. Where answers are missing, the others are asked for all the same, so that
 * every prompt which can be written is: then throws AnswerMissingError.
 */
export async function askAll<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  let missing: AnswerMissingError | undefined;
  for (const task of tasks) {
    try {
      results.push(await task());
    } catch (error) {
      if (!(error instanceof AnswerMissingError)) throw error;
      missing = error;
    }
  }
  if (missing) throw missing;
  return results;
}

/** As the fake Gemini counts. */
function promptTokens(prompt: Prompt & { responseJsonSchema?: unknown }): number {
  const { systemInstruction = '', contents, responseJsonSchema } = prompt;
  const overhead = {
    systemInstruction: { parts: [{ text: systemInstruction }] },
    generationConfig: { responseJsonSchema },
  };
  return toTokens(
    contents.reduce((units, content) => units + contentUnits(content), overheadUnits(overhead)),
  );
}

/** A model that answers from files. A prompt without an answer is blocked: so the service neither waits nor asks otherwise. */
export const recordedModel = (
  answers: Pick<AnswerFolder, 'answer'>,
): ModelGenerator & TokenCounter => ({
  countTokens: (prompt) => Promise.resolve(promptTokens(prompt)),
  generate: async (request) => {
    const text = await answers.answer(request);
    const parts = text === undefined ? [] : [{ text }];
    const usage = {
      promptTokens: promptTokens(request),
      cachedTokens: 0,
      outputTokens: toTokens(contentUnits({ parts })),
      thoughtsTokens: 0,
    };
    return {
      parts,
      usage,
      ...(text === undefined ? { blockReason: 'OTHER' } : { finishReason: 'STOP' }),
    };
  },
});
