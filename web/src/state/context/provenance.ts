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
  for (const { sources } of detail.snapshot ?? []) for (const seq of sources) seqs.add(seq);
  return [...seqs].toSorted((one, other) => one - other).slice(-TURNS_MAX);
}

/**
 * Whether a statement was known before this compaction. One without sources is older than they are; where the
 * model wrote the whole snapshot anew, none has any and nothing is known of their age.
 */
export const isCarried = (
  item: Pick<SnapshotItemView, 'sources'>,
  { from = 1, strategy }: Pick<CompactionDetailView, 'from' | 'strategy'>,
): boolean =>
  item.sources.length === 0 ? strategy === 'ledger' : item.sources.every((seq) => seq < from);
