import { workingItems, type ArchivedItem, type Snapshot } from '../../conversation/snapshot.ts';
import { textKey } from './item-text.ts';
import { lastSource } from './sources.ts';

/** Ids of items that another one took the place of. */
const supersededIds = (snapshot: Snapshot): ReadonlySet<string> =>
  new Set(
    [...workingItems(snapshot), ...snapshot.archive].flatMap(({ supersedes }) =>
      supersedes === undefined ? [] : [supersedes],
    ),
  );

const byValue = (a: ArchivedItem, b: ArchivedItem): number =>
  b.importance - a.importance || lastSource(b) - lastSource(a);

/** What the working layer says, as texts are compared. */
const workingKeys = (snapshot: Snapshot): ReadonlySet<string> =>
  new Set(workingItems(snapshot).map(({ text }) => textKey(text)));

/**
 * The archived items that still hold, the important first, then the newest. What was replaced is left
 * out: it is for search, and would contradict what replaced it; and what the working layer says again.
 */
export function archiveOrder(snapshot: Snapshot): ArchivedItem[] {
  const superseded = supersededIds(snapshot);
  const known = workingKeys(snapshot);
  return snapshot.archive
    .filter(({ id, text }) => !superseded.has(id) && !known.has(textKey(text)))
    .toSorted(byValue);
}

/** The archive from what is kept longest to what is dropped first. */
export function keepingOrder(snapshot: Snapshot): ArchivedItem[] {
  const superseded = supersededIds(snapshot);
  return snapshot.archive.toSorted(
    (a, b) => Number(superseded.has(a.id)) - Number(superseded.has(b.id)) || byValue(a, b),
  );
}
