import type { SnapshotReport } from '#shared/compaction/write-snapshot.ts';
import type {
  CompactionDetailView,
  CompactionRecordView,
  SnapshotItemView,
} from '#shared/wire/resources/compaction.ts';

/* What the page reads out of compactions. */

/** Of a compaction that has not ended, in their order. */
export const stages = { QUEUED: 'Queued', RUNNING: 'Summarising', VERIFYING: 'Verifying' };

/** Whether a compaction waits or runs. */
export const isUnderWay = (status: { state: string } | null | undefined): boolean =>
  Object.hasOwn(stages, status?.state ?? '');

/** Outcomes that make the context smaller; an edit or a restore makes it another one. */
export const isSaving = ({ state }: Pick<CompactionRecordView, 'state'>): boolean =>
  state === 'COMPACTED' || state === 'CONTENT_TRUNCATED';

/** Share of the context that a compaction saved, 0–1. */
export const savedShare = ({
  beforeTokens,
  afterTokens,
}: Pick<CompactionRecordView, 'beforeTokens' | 'afterTokens'>): number =>
  beforeTokens === 0 ? 0 : Math.max(0, 1 - afterTokens / beforeTokens);

/** The newest generation, and the last turn that it stands in for; 0: none. */
export function toFolded(compactions: readonly CompactionRecordView[]): {
  generation: number;
  upTo: number;
} {
  const made = compactions.filter(({ generation }) => generation !== undefined);
  const newest = made.toSorted((one, other) => (other.generation ?? 0) - (one.generation ?? 0))[0];
  return { generation: newest?.generation ?? 0, upTo: newest?.upTo ?? 0 };
}

/** Turns that are shown beside a snapshot at most; of more the newest. */
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

/** The check of a ledger wrote it, and says so by its fields. */
export const isSnapshotReport = (report: object | undefined): report is SnapshotReport =>
  report !== undefined && 'markedCount' in report && 'refusedTexts' in report;
