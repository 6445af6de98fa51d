import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError } from '#infra/command-line.ts';
import { contentUnits, overheadUnits, toTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import { requestContentSchema } from '#infra/fake-gemini/server/request.ts';
import type { Content } from '#shared/models/content.ts';
import type { ModelGenerator, ModelRequest, Prompt, TokenCounter } from '#shared/ports/ports.ts';

/** `verify` is a second pass; `reader` and `judge` are asked of what is left. */
const promptKinds = ['main', 'verify', 'reader', 'judge'] as const;

/** What a prompt asks for. */
type PromptKind = (typeof promptKinds)[number];

/** Where in the life of a conversation a prompt is asked. */
interface PromptPlace {
  /** Of the recording. */
  id: string;
  strategy: string;
  /** From 1. */
  generation: number;
  kind: PromptKind;
  /** From 1; which of several of the kind. */
  number: number;
}

const idOfPrompt = /^compress-\d+(?:-(?<number>\d+))?(?:-(?<kind>[a-z]+)(?:-(?<last>\d+))?)?$/u;

/** What the id of a prompt says of it: `compress-1700000000000-2` is the second chunk of a main prompt. */
function readPromptId(promptId: string): Pick<PromptPlace, 'kind' | 'number'> {
  const { kind, number, last } = idOfPrompt.exec(promptId)?.groups ?? {};
  return {
    kind: promptKinds.find((each) => each === kind) ?? 'main',
    number: Number(last ?? number ?? 1),
  };
}

const startOfNames = ({ id, strategy }: Pick<PromptPlace, 'id' | 'strategy'>): string =>
  `${id}.${strategy}`.replaceAll('/', '_');

/** `locomo_conv-26.ledger.g1.main`, the second of several `….main.2`. */
function placeName(place: PromptPlace): string {
  const { generation, kind, number } = place;
  const name = `${startOfNames(place)}.g${generation}.${kind}`;
  return number === 1 ? name : `${name}.${number}`;
}

/** A prompt among the files of answers. */
interface AskedFor {
  place: PromptPlace;
  hash: string;
}

/** The name under which a prompt is written: its answer fits by hash, and later by place. */
const promptName = ({ place, hash }: AskedFor): string => `${placeName(place)}.${hash}`;

const answerEnd = '.answer.txt';

const answerFile = (name: string): string => `${name}${answerEnd}`;

/** An answer that is there; `by` place, it was written for other words. */
interface FoundAnswer {
  name: string;
  by: 'hash' | 'place';
}

/** Which file answers a prompt: one whose name ends with its hash, else, with `isLoose`, one of its place. */
function findAnswer(
  files: readonly string[],
  { place, hash, isLoose }: AskedFor & { isLoose: boolean },
): FoundAnswer | undefined {
  const names = files
    .filter((file) => file.endsWith(answerEnd))
    .map((file) => file.slice(0, -answerEnd.length));
  const start = `${startOfNames(place)}.`;
  const exact = names.find((name) => name.startsWith(start) && name.endsWith(`.${hash}`));
  if (exact !== undefined) return { name: exact, by: 'hash' };
  if (!isLoose) return undefined;
  const wanted = placeName(place);
  const hashed = /^\.[0-9a-f]{12}$/u;
  const byPlace = names
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .find(
      (name) =>
        name === wanted || (name.startsWith(wanted) && hashed.test(name.slice(wanted.length))),
    );
  return byPlace === undefined ? undefined : { name: byPlace, by: 'place' };
}

/** Letters and digits mixed as in a random id: nothing but zeros would weigh ten tokens more. */
const ID_PREFIX = 'b7d4e2a9-6c31-4f8e-9d5a-c8e1f3';
const COUNT_DIGITS = 6;
const counted = new RegExp(`${ID_PREFIX}\\d{${COUNT_DIGITS}}`, 'gu');

/** Ids that are the same in every run. */
export function countedIds(): { uuid: () => string } {
  let drawn = 0;
  return { uuid: () => `${ID_PREFIX}${String(++drawn).padStart(COUNT_DIGITS, '0')}` };
}

/** A text with a mark in the place of each counted id: which number an id has says nothing about a prompt. */
const withoutCountedIds = (text: string): string => text.replaceAll(counted, '@@@@MARK@@@@');

const HASH_CHARACTERS = 12;

/** Calls as the fake Gemini reads them: the order of their fields is part of the hash of a prompt. */
const contentText = (content: Content): string =>
  (requestContentSchema.parse(content).parts ?? [])
    .map((part) => part.text ?? JSON.stringify(part))
    .join('\n');

/** What a prompt is made of. */
type AskedRequest = Pick<
  ModelRequest,
  'promptId' | 'systemInstruction' | 'contents' | 'responseJsonSchema'
>;

/** A request as somebody reads it who is to answer it: instruction, contents, and the schema of the answer. */
function promptText({
  systemInstruction = '',
  contents,
  responseJsonSchema: schema,
}: AskedRequest): string {
  const shown = contents.map((content) => `### ${content.role}\n${contentText(content)}`);
  const paragraphs = [
    `# SYSTEM INSTRUCTION\n${systemInstruction}\n`,
    `# CONTENTS\n${withoutCountedIds(shown.join('\n\n'))}\n`,
    schema === undefined
      ? ''
      : `# THE ANSWER MUST BE ONE JSON VALUE OF THIS SCHEMA\n${JSON.stringify(schema)}\n`,
  ];
  return paragraphs.join('\n');
}

/** Twelve hexadecimal digits that tell a prompt from every other. */
const promptHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARACTERS);

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
