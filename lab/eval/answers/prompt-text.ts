import { createHash } from 'node:crypto';
import type { ModelRequestBody, RequestContent } from '#infra/fake-gemini/server/request.ts';

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

const contentText = (content: RequestContent | undefined): string =>
  (content?.parts ?? []).map((part) => part.text ?? JSON.stringify(part)).join('\n');

/** A request as somebody reads it who is to answer it: instruction, contents, and the schema of the answer. */
export function promptText({ systemInstruction, contents, generationConfig }: ModelRequestBody) {
  const shown = (contents ?? []).map((content) => `### ${content.role}\n${contentText(content)}`);
  const schema = generationConfig?.responseJsonSchema ?? generationConfig?.responseSchema;
  const paragraphs = [
    `# SYSTEM INSTRUCTION\n${contentText(systemInstruction)}\n`,
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
