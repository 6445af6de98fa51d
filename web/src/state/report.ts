import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import type { LedgerReport } from '#shared/compaction/ledger/ledger-report.ts';

/** The service wrote it, and says so by its fields. */
const isLedgerReport = (report: object): report is LedgerReport =>
  'recall' in report && 'precision' in report && 'verbatim' in report;

/** What there is to tell of how a snapshot was checked. */
export type SnapshotReport =
  /** A ledger was checked by it. */
  | { kind: 'ledger'; report: LedgerReport }
  /** The model wrote it as a whole; its statements were compared with nothing. */
  | { kind: 'byModel' }
  /** Code alone wrote it, in words of the turns. */
  | { kind: 'byCode' }
  /** It was taken over from an earlier generation. */
  | { kind: 'copied' }
  | { kind: 'none' };

/** By whom a snapshot was written, and what was found of it. */
export function readSnapshotReport(
  record: Pick<CompactionRecordView, 'strategy' | 'report'>,
): SnapshotReport {
  const { strategy, report = {} } = record;
  if (isLedgerReport(report)) return { kind: 'ledger', report };
  if (strategy === 'gemini-cli') return { kind: 'byModel' };
  if (strategy === 'fallback') return { kind: 'byCode' };
  return { kind: strategy === 'copy' ? 'copied' : 'none' };
}

export const tiers = ['tier1', 'tier2', 'tier3'] as const;
