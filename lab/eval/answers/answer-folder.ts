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

/** Where answers are, and how they are found. */
interface AnswerSettings {
  folder: string;
  /** Also by place, where no answer is for exactly this prompt. */
  isLoose: boolean;
}

/** A prompt that was asked. */
interface AskedPrompt {
  /** Under which it is written where nothing answers it. */
  name: string;
  place: PromptPlace;
  /** Absent: no answer is there. */
  answer?: FoundAnswer;
}

/** The answers of a model as files, and the prompts that have none yet. */
export interface AnswerFolder extends AnswerSettings {
  /** From now on prompts are of this conversation, in its first generation. */
  beginConversation(conversation: Pick<PromptPlace, 'id' | 'strategy'>): void;
  beginGeneration(generation: number): void;
  /** The recorded answer; undefined where there is none, and the prompt is written in its place. */
  answer(request: AskedRequest): Promise<string | undefined>;
  /** Whether the conversation cannot go on before somebody has answered. */
  isWaiting(): boolean;
  /** Prompts of the conversation that nothing answers, as they were written. */
  missingFiles(): string[];
  /** All prompts so far, each once, by name. */
  asked(): AskedPrompt[];
}

/** The service goes on without these, as when their calls fail. */
const isOptional = ({ place: { kind } }: AskedPrompt): boolean => kind === 'condense';

/** An answer without the fence that models like to put around JSON. */
const withoutFence = (text: string): string =>
  text.trim().replaceAll(/^```(?:json)?\n?|\n?```$/gu, '');

const promptPath = (folder: string, name: string): string => join(folder, `${name}.prompt.md`);

/** Throws ArgumentError where something else stands in the place of the folder. */
function checkFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new ArgumentError(`--answers ${folder} is no folder: name the folder of the answers`);
}

/** Opens a folder of answers, which is made with the first prompt that has none. Throws ArgumentError for a file. */
export function openAnswerFolder({ folder, isLoose }: AnswerSettings): AnswerFolder {
  checkFolder(folder);
  let current = { id: '', strategy: '', generation: 1 };
  const asked = new Map<string, AskedPrompt>();
  /** Of the conversation, by hash: the same prompt asked again gets the same answer. */
  let ofConversation = new Map<string, AskedPrompt>();
  const lookUp = async (place: PromptPlace, hash: string): Promise<AskedPrompt> => {
    const files = await readdir(folder).catch(() => []);
    const answer = findAnswer(files, { place, hash, isLoose });
    return { name: promptName({ place, hash }), place, ...(answer && { answer }) };
  };
  return {
    folder,
    isLoose,
    beginConversation(conversation) {
      current = { ...conversation, generation: 1 };
      ofConversation = new Map();
    },
    beginGeneration(generation) {
      current = { ...current, generation };
    },
    async answer(request) {
      const text = promptText(request);
      const hash = promptHash(text);
      const place = { ...current, ...readPromptId(request.promptId) };
      const prompt = ofConversation.get(hash) ?? (await lookUp(place, hash));
      ofConversation.set(hash, prompt);
      asked.set(prompt.name, prompt);
      if (prompt.answer !== undefined)
        return withoutFence(await readFile(join(folder, answerFile(prompt.answer.name)), 'utf8'));
      await mkdir(folder, { recursive: true });
      await writeFile(promptPath(folder, prompt.name), text);
      return undefined;
    },
    isWaiting: () =>
      missingPrompts([...ofConversation.values()]).some(
        (prompt) => !(isLoose && isOptional(prompt)),
      ),
    missingFiles: () =>
      missingPrompts([...ofConversation.values()]).map(({ name }) => promptPath(folder, name)),
    asked: () => [...asked.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
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

const missingPrompts = (asked: readonly AskedPrompt[]): AskedPrompt[] =>
  asked.filter(({ answer }) => answer === undefined);

/** Places whose answers were written to an earlier form of the prompt. */
const stalePlaces = (asked: readonly AskedPrompt[]): string[] =>
  asked.filter(({ answer }) => answer?.by === 'place').map(({ place }) => placeName(place));

/** Says which answers are older than their prompts, and what to write where; empty where all is answered exactly. */
export function answersText({ folder, asked }: Pick<AnswerFolder, 'folder' | 'asked'>): string {
  const prompts = asked();
  const missing = missingPrompts(prompts);
  const stale = stalePlaces(prompts);
  const lines = [
    ...(stale.length > 0
      ? [`found by place, their prompts have changed: ${stale.join(', ')}`]
      : []),
    ...(missing.length > 0
      ? [
          'prompts without an answer:',
          ...missing.map(({ name }) => `  ${promptPath(folder, name)}`),
          `Read each alone, write its answer beside it as ${answerFile('NAME')}, and run the command again.`,
        ]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Exit code of a command that met prompts without an answer. */
const ANSWERS_MISSING = 3;

/** 0 good, 1 not, 3 where a prompt has no answer: then nobody knows yet. */
export function exitCode(
  isGood: boolean,
  answers: Pick<AnswerFolder, 'asked'> | undefined,
): 0 | 1 | 3 {
  if (missingPrompts(answers?.asked() ?? []).length > 0) return ANSWERS_MISSING;
  return isGood ? 0 : 1;
}
