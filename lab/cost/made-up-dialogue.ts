import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { madeUpAnswer, madeUpQuestion } from '#test/support/compaction/conversation-builder.ts';
import type { ReplayedTurn } from './count-replay.ts';

/** Sentences about `seq` until about so many tokens are reached, at least one. */
function textOf(seq: number, tokens: number, sentence: (seq: number) => string): string {
  let text = sentence(seq);
  for (let next = 1; estimateTextTokens(text, 'character-class') < tokens; next++)
    text += ` ${sentence(seq + 1_000 * next)}`;
  return text;
}

/** A dialogue about a trip with messages and answers of about these sizes, the same on each call. */
export const madeUpDialogue = (
  turns: number,
  { messageTokens, answerTokens }: { messageTokens: number; answerTokens: number },
): ReplayedTurn[] =>
  Array.from({ length: turns }, (_, index) => ({
    user: textOf(index + 1, messageTokens, madeUpQuestion),
    answer: textOf(index + 1, answerTokens, madeUpAnswer),
  }));
