import { workingItems, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { isRepetitive } from '#shared/compaction/repetition.ts';
import { changedItems } from '../operations/changed-items.ts';

export type ShapeProblem = 'EMPTY' | 'REPETITIVE';

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
 * What is wrong with a snapshot at first sight: nothing in its working layer, or the items that this run made
 * or changed say the same over and over. Little is no fault: a short item that its turns bear out is all
 * that some turns have to say. Nor is much: what exceeds the budget goes to the archive. Items of earlier
 * runs were checked then: a user who repeats himself is no fault of this one.
 */
export function shapeProblems(input: {
  previous: Snapshot | undefined;
  snapshot: Snapshot;
}): ShapeProblem[] {
  if (joined(workingItems(input.snapshot)).trim() === '') return ['EMPTY'];
  const own = changedItems(input.previous, input.snapshot)
    .map(({ item }) => item)
    .filter(({ by }) => by === 'model');
  return isRepetitive(joined(own)) ? ['REPETITIVE'] : [];
}
