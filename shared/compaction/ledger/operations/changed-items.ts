import {
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';

/** An item of the working layer that this run made or changed. */
export interface ChangedItem {
  item: ArchivedItem;
  /** What it was before, when it is not new. */
  before: ArchivedItem | undefined;
  /** The item that it took the place of. */
  superseded: ArchivedItem | undefined;
}

/** Every item with its section, by id. */
const byId = (snapshot: Snapshot | undefined): Map<string, ArchivedItem> =>
  new Map(
    snapshot === undefined
      ? []
      : [...snapshot.archive, ...workingItems(snapshot)].map((item) => [item.id, item]),
  );

/** Items of the working layer with another text than before, or that were not there. */
export function changedItems(previous: Snapshot | undefined, snapshot: Snapshot): ChangedItem[] {
  const known = byId(previous);
  return workingItems(snapshot).flatMap((item) => {
    const before = known.get(item.id);
    if (before?.text === item.text) return [];
    return [{ item, before, superseded: known.get(item.supersedes ?? '') }];
  });
}
