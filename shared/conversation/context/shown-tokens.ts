import { sentOutputs, type OutputForms } from '#shared/compaction/sent-outputs.ts';
import { memoryTokens } from '#shared/memory/render-memory.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { Content } from '../documents/content.ts';
import type { CoveredThrough } from '../documents/conversation.ts';
import type { History } from '../documents/history.ts';
import type { Turn } from '../documents/turn.ts';
import { pinnedTokens } from '../pins/kept-pins.ts';
import { itemsOfTurns, type ContextSource } from './assemble-context.ts';

/** What the count of a context's prompt is about, so that the meter can go on from it; `seq`: the last turn in it. */
export function countedContext(
  context: ContextSource,
  forms: OutputForms,
  counted: Pick<NonNullable<History['counted']>, 'source' | 'seq'>,
): NonNullable<History['counted']> {
  const memory = context.memory ? memoryTokens(context.memory) : 0;
  return {
    ...counted,
    pinTokens: pinnedTokens(context.pins, context.history, memory),
    memoryTokens: memory,
    outputTokens: sentOutputs(itemsOfTurns(context), forms).tokens,
  };
}

const tokensOf = (contents: readonly Content[]) =>
  contents.reduce((sum, content) => sum + estimateContentTokens(content, 'character-class'), 0);

/**
 * Uncalibrated tokens of what the context shows of a turn, from the counts that were stored with it. Of one
 * that is folded inside, the answer counts by the share of it that still stands.
 */
export function shownTokens(
  turn: Pick<Turn, 'seq' | 'contents' | 'tokens'>,
  covered: CoveredThrough | undefined,
): number {
  const { tokens, contents, seq } = turn;
  if (covered === undefined || covered.contentIndex === 0 || covered.seq !== seq)
    return tokens.user + tokens.answer;
  const whole = tokensOf(contents);
  const share = whole === 0 ? 1 : tokensOf(contents.slice(covered.contentIndex)) / whole;
  return tokens.user + Math.ceil(share * tokens.answer);
}
