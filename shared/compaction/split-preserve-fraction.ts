import {
  assembleContext,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import {
  hasFunctionCall,
  hasFunctionResponse,
  type Content,
} from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/**
 * Gemini CLI's split point: how many of the oldest contents to fold. Weight is the length of the JSON.
 * The split lies before a user content without function response: the first one with at least
 * `fraction` of the weight before it. Where there is none: after everything if the last content is a
 * model content without function call, else before the last such user content (0 = fold nothing).
 * `fraction` = 1 − preserveFraction; throws RangeError outside (0, 1). Empty → 0. Linear.
 */
export function findSplitPoint(contents: readonly Content[], fraction: number): number {
  if (!(fraction > 0 && fraction < 1))
    throw new RangeError(`fraction to fold must lie between 0 and 1, is ${fraction}`);

  const lengths = contents.map((content) => JSON.stringify(content).length);
  const target = fraction * lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  let lastCandidate = 0;
  for (const [index, content] of contents.entries()) {
    if (content.role === 'user' && !hasFunctionResponse(content)) {
      if (before >= target) return index;
      lastCandidate = index;
    }
    before += lengths[index] ?? 0;
  }

  const last = contents.at(-1);
  if (last?.role === 'model' && !hasFunctionCall(last)) return contents.length;
  return lastCandidate;
}

interface TurnToFold {
  seq: number;
  /** Only their number matters here; an erased turn has none. */
  contents: readonly unknown[];
}

/**
 * What a split of the joined contents of `turns` (oldest first) folds: the whole turns before it. The
 * newest turn always stays, and a turn that the split falls into stays whole, so `contentIndex` is
 * always 0. null when no turn is folded.
 */
function foldRange(input: {
  turns: readonly TurnToFold[];
  /** Index into the joined contents, as `findSplitPoint` returns it. */
  splitIndex: number;
}): { upTo: CoveredThrough } | null {
  let upTo: CoveredThrough | null = null;
  let end = 0;
  for (const turn of input.turns.slice(0, -1)) {
    end += turn.contents.length;
    if (end > input.splitIndex) break;
    // An erased turn at the very front is no reason to call the model.
    if (end > 0) upTo = { seq: turn.seq, contentIndex: 0 };
  }
  return upTo === null ? null : { upTo };
}

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
