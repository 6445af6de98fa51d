import { ArgumentError } from '../replay/replay-arguments.ts';
import type { AnswerSettings } from './answer-folder.ts';

export const answerOptions = {
  answers: { type: 'string' },
  loose: { type: 'boolean', default: false },
} as const;

export const answerOptionsHelp = `  --answers DIR            of --model files: recorded answers; a prompt without one is written there, and the
                           exit code is 3
  --loose                  of --model files: also take an answer to an earlier form of the prompt, by its place`;

/** Where the model `files` finds answers; undefined for any other. Throws ArgumentError. */
export function readAnswers(
  model: string,
  { answers, loose }: { answers?: string | undefined; loose: boolean },
): AnswerSettings | undefined {
  if (model === 'files') {
    if (answers === undefined || answers === '')
      throw new ArgumentError('--model files needs --answers DIR, the folder of the answers');
    return { folder: answers, isLoose: loose };
  }
  if (answers !== undefined || loose)
    throw new ArgumentError('--answers and --loose need --model files');
  return undefined;
}
