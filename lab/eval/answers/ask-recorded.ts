import type { AnswerFolder } from './answer-folder.ts';
import type { PromptKind } from './prompts.ts';

/** No answer is recorded for a prompt: what follows from it cannot be known. */
export class AnswerMissingError extends Error {
  constructor(answers: Pick<AnswerFolder, 'missingFiles'>) {
    super(`no answer is recorded for ${answers.missingFiles().join(', ')}`);
  }
}

interface Prompt {
  kind: PromptKind;
  /** Which of several of its kind, from 1. */
  number?: number;
  text: string;
}

/** Throws AnswerMissingError. */
type Ask = (prompt: Prompt) => Promise<string>;

/** Asks the recorded answers. Throws AnswerMissingError after the prompt was written. */
export const askRecorded =
  (folder: Pick<AnswerFolder, 'answer' | 'missingFiles'>): Ask =>
  async ({ kind, number = 1, text }) => {
    const answer = await folder.answer({
      promptId: `compress-0${kind === 'main' ? '' : `-${kind}`}${number === 1 ? '' : `-${number}`}`,
      contents: [{ role: 'user', parts: [{ text }] }],
    });
    if (answer === undefined) throw new AnswerMissingError(folder);
    return answer.trim();
  };

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
