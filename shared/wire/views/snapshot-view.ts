import {
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { SnapshotItemView } from '../resources/compaction.ts';

const itemView = (item: ArchivedItem, layer: SnapshotItemView['layer']): SnapshotItemView => {
  const { id, section, text, sources, quote, at, status, importance, supersedes, by } = item;
  return {
    id,
    section,
    layer,
    text,
    sources,
    ...(quote !== undefined && { quote }),
    ...(at !== undefined && { at }),
    ...(status !== undefined && { status }),
    importance,
    ...(supersedes !== undefined && { supersedes }),
    by,
  };
};

/** The statements of a snapshot with their sources: the working layer in the order in which it is written, then the archive. */
export const snapshotView = (snapshot: Snapshot): SnapshotItemView[] => [
  ...workingItems(snapshot).map((item) => itemView(item, 'working')),
  ...snapshot.archive.map((item) => itemView(item, 'archive')),
];
