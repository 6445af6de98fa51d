import { workingItems, type Snapshot } from '../../conversation/snapshot.ts';
import { isRepetitive } from '../repetition.ts';
import { snapshotConstants } from '../snapshot-constants.ts';
import { estimateTextTokens, type TokenCounting } from '../token-estimate.ts';
import { changedItems } from './changed-items.ts';

export type ShapeProblem = 'EMPTY' | 'TOO_LARGE' | 'REPETITIVE';

const joined = (items: readonly { text: string }[]): string =>
  items.map(({ text }) => text).join('\n');

/**
 * The snapshot without items of this run that run in a loop by themselves: one message that repeats itself
 * must not keep a conversation from being compacted.
 */
export function withoutLoops(previous: Snapshot | undefined, snapshot: Snapshot): Snapshot {
  const looping = new Set(
    changedItems(previous, snapshot)
      .filter(({ item }) => item.by === 'model' && isRepetitive(item.text))
      .map(({ item }) => item.id),
  );
  if (looping.size === 0) return snapshot;
  const sections = Object.entries(snapshot.sections).map(
    ([name, items]) => [name, items.filter(({ id }) => !looping.has(id))] as const,
  );
  return { ...snapshot, sections: Object.fromEntries(sections) };
}

/**
 * What is wrong with a snapshot at first sight: nothing in its working layer; or the items that this
 * run made or changed take more than twice the budget, or run in a loop. Little is no fault: a short item that
 * its turns bear out is all that some turns have to say. Items of earlier runs were checked then: a budget that became smaller, or a user who repeats himself, is no fault of
 * this one.
 */
export function shapeProblems(input: {
  previous: Snapshot | undefined;
  snapshot: Snapshot;
  budgetTokens: number;
  counting: TokenCounting;
}): ShapeProblem[] {
  const { snapshotCeilingFactor } = snapshotConstants;
  const text = joined(workingItems(input.snapshot));
  if (text.trim() === '') return ['EMPTY'];
  const own = changedItems(input.previous, input.snapshot)
    .map(({ item }) => item)
    .filter(({ by }) => by === 'model');
  const ownText = joined(own);
  const ownTokens = estimateTextTokens(ownText, input.counting);
  // What is refused for its size need not be searched: it may be very long.
  if (ownTokens > snapshotCeilingFactor.value * input.budgetTokens) return ['TOO_LARGE'];
  return isRepetitive(ownText) ? ['REPETITIVE'] : [];
}
