import { createHash } from 'node:crypto';
import { requestContentSchema } from '#infra/fake-gemini/server/request.ts';
import type { Content } from '#shared/models/content.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';

/** `verify` is a second pass; `reader` and `judge` are asked of what is left. */
const promptKinds = ['main', 'verify', 'reader', 'judge'] as const;

/** What a prompt asks for. */
type PromptKind = (typeof promptKinds)[number];

/** Where in the life of a conversation a prompt is asked. */
export interface PromptPlace {
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
export function readPromptId(promptId: string): Pick<PromptPlace, 'kind' | 'number'> {
  const { kind, number, last } = idOfPrompt.exec(promptId)?.groups ?? {};
  return {
    kind: promptKinds.find((each) => each === kind) ?? 'main',
    number: Number(last ?? number ?? 1),
  };
}

const startOfNames = ({ id, strategy }: Pick<PromptPlace, 'id' | 'strategy'>): string =>
  `${id}.${strategy}`.replaceAll('/', '_');

/** `locomo_conv-26.ledger.g1.main`, the second of several `….main.2`. */
export function placeName(place: PromptPlace): string {
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
export const promptName = ({ place, hash }: AskedFor): string => `${placeName(place)}.${hash}`;

const answerEnd = '.answer.txt';

export const answerFile = (name: string): string => `${name}${answerEnd}`;

/** An answer that is there; `by` place, it was written for other words. */
export interface FoundAnswer {
  name: string;
  by: 'hash' | 'place';
}

/** Which file answers a prompt: one whose name ends with its hash, else, with `isLoose`, one of its place. */
export function findAnswer(
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
  const there = names
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .find(
      (name) =>
        name === wanted || (name.startsWith(wanted) && hashed.test(name.slice(wanted.length))),
    );
  return there === undefined ? undefined : { name: there, by: 'place' };
}

/** Letters and digits mixed as in a random id: nothing but zeros would weigh ten tokens more. */
const start = 'b7d4e2a9-6c31-4f8e-9d5a-c8e1f3';
const COUNT_DIGITS = 6;
const counted = new RegExp(`${start}\\d{${COUNT_DIGITS}}`, 'gu');

/** Ids that are the same in every run. */
export function countedIds(): { uuid: () => string } {
  let drawn = 0;
  return { uuid: () => `${start}${String(++drawn).padStart(COUNT_DIGITS, '0')}` };
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
export type AskedRequest = Pick<
  ModelRequest,
  'promptId' | 'systemInstruction' | 'contents' | 'responseJsonSchema'
>;

/** A request as somebody reads it who is to answer it: instruction, contents, and the schema of the answer. */
export function promptText({
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
export const promptHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARACTERS);
