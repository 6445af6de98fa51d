import {
  assembleContext,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { findSplitPoint, foldRange } from './split-by-fraction.ts';

/** Where Gemini CLI's algorithm ends the fold, in whole turns; undefined when it folds nothing. */
export function preserveFractionPoint(
  masked: ContextSource,
  visible: readonly Turn[],
  preserveFraction: number,
): CoveredThrough | undefined {
  // Pins never go through the summariser.
  const items = assembleContext({ ...masked, memory: undefined, pins: [] });
  const contentsOf = new Map<number, Content[]>();
  for (const { seq, content } of items)
    if (seq !== undefined) contentsOf.set(seq, [...(contentsOf.get(seq) ?? []), content]);
  const split = findSplitPoint(
    items.map(({ content }) => content),
    1 - preserveFraction,
  );
  const memoryContents = items.filter(({ kind }) => kind !== 'turn').length;
  const range = foldRange({
    turns: visible.map(({ seq }) => ({ seq, contents: contentsOf.get(seq) ?? [] })),
    splitIndex: split - memoryContents,
  });
  if (range === null) return undefined;
  const firstKept = visible.find(({ seq }) => seq > range.upTo.seq);
  return { seq: (firstKept?.seq ?? range.upTo.seq + 1) - 1, contentIndex: 0 };
}
