import { createHash } from 'node:crypto';
import type { ModelRequestBody, RequestContent } from '#infra/fake-gemini/server/request.ts';
import { withoutCountedIds } from './counted-ids.ts';

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
