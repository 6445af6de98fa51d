import type { SnapshotReport } from '#shared/compaction/write-snapshot.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';

/** Behind a value of a snapshot that nobody was found to have said. */
export const UNSAID_MARK = '⁇';

/** The service wrote it, and says so by its fields. */
const isSnapshotReport = (report: object): report is SnapshotReport =>
  'statements' in report && 'markedCount' in report && 'refusedTexts' in report;

/** What there is to tell of how a snapshot was checked. */
export type CheckOutcome =
  /** The statements of a ledger were compared with the turns. */
  | { kind: 'checked'; report: SnapshotReport }
  /** The model wrote it as a whole; its statements were compared with nothing. */
  | { kind: 'byModel' }
  /** Code alone wrote it, in words of the turns. */
  | { kind: 'byCode' }
  /** It was taken over from an earlier generation. */
  | { kind: 'copied' }
  | { kind: 'none' };

/** By whom a snapshot was written, and what was found of it. */
export function readCheckOutcome(
  record: Pick<CompactionRecordView, 'strategy' | 'report'>,
): CheckOutcome {
  const { strategy, report = {} } = record;
  if (isSnapshotReport(report)) return { kind: 'checked', report };
  if (strategy === 'gemini-cli') return { kind: 'byModel' };
  if (strategy === 'fallback') return { kind: 'byCode' };
  return { kind: strategy === 'copy' ? 'copied' : 'none' };
}
