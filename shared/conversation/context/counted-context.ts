import { sentOutputs, type OutputForms } from '#shared/compaction/tool-outputs/sent-outputs.ts';
import { memoryTokens } from '#shared/memory/render-memory.ts';
import { itemsOfTurns, type ContextSource } from './assemble-context.ts';
import type { History } from '../documents/history.ts';
import { pinnedTokens } from '../pins/pinned-tokens.ts';

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
