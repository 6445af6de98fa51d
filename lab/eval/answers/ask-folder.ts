import type { AnswerFolder } from './answer-folder.ts';
import type { PromptKind } from './answer-names.ts';

/** No answer is recorded for a prompt: what follows from it cannot be known. */
export class AnswerMissing extends Error {}

interface Prompt {
  kind: PromptKind;
  /** Which of several of its kind, from 1. */
  number?: number;
  system?: string;
  text: string;
}

/** Throws AnswerMissing. */
export type Ask = (prompt: Prompt) => Promise<string>;

/** Asks the recorded answers. Throws AnswerMissing after the prompt was written. */
export const asksFolder =
  (folder: Pick<AnswerFolder, 'answer'>): Ask =>
  async ({ kind, number = 1, system, text }) => {
    const answer = await folder.answer({
      promptId: `compress-0${kind === 'main' ? '' : `-${kind}`}${number === 1 ? '' : `-${number}`}`,
      body: {
        ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
        contents: [{ role: 'user', parts: [{ text }] }],
      },
    });
    if (answer === undefined) throw new AnswerMissing();
    return answer.trim();
  };
