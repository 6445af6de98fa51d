import type { Signal } from '@preact/signals';
import type { CompactionDetailView, SnapshotItemView } from '#shared/wire/resources/compaction.ts';
import type { StoredTurn } from '../turn-pages.ts';

/** What a detail shows, once it is read. */
export interface Detail {
  compaction: CompactionDetailView;
  turns: readonly StoredTurn[];
}

/** What is pointed at: a statement lights its turns, a turn its statements. */
export type Lit = Signal<{ item?: string; seq?: number }>;

/** Turns of a detail at most; of more the newest. */
const TURNS_MAX = 400;

/** The turns to show beside a snapshot: the folded ones, and earlier ones that statements come from. */
export function turnsToShow(detail: CompactionDetailView): number[] {
  const seqs = new Set<number>();
  const { from = 1, upTo = 0 } = detail;
  for (let seq = Math.max(1, from); seq <= upTo; seq += 1) seqs.add(seq);
  for (const { sources, through } of detail.snapshot ?? [])
    for (const seq of through === undefined ? sources : [...sources, through]) seqs.add(seq);
  return [...seqs].toSorted((one, other) => one - other).slice(-TURNS_MAX);
}

/** Whether a statement comes from a turn; a topic comes from the stretch between its first and its last. */
export const isFrom = (
  { sources, through }: Pick<SnapshotItemView, 'sources' | 'through'>,
  seq: number,
): boolean => {
  const [first] = sources;
  const isInStretch =
    through !== undefined && first !== undefined && first <= seq && seq <= through;
  return isInStretch || sources.includes(seq);
};

/** Whether a statement was known before this compaction; of one that names no turns nobody knows. */
export const isCarried = (
  { sources }: Pick<SnapshotItemView, 'sources'>,
  { from = 1 }: Pick<CompactionDetailView, 'from'>,
): boolean => sources.length > 0 && sources.every((seq) => seq < from);
