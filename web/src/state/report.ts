import type { LedgerReport } from '../../../shared/compaction/ledger/ledger-report.ts';

/**
 * The report of a compaction that a ledger was checked by; undefined for others, such as those of the rewrite
 * strategy or of code alone, which have another form.
 */
export function ledgerReportOf(
  report: Record<string, unknown> | undefined,
): LedgerReport | undefined {
  return report !== undefined && isLedgerReport(report) ? report : undefined;
}

/** The service wrote it, and says so by its fields. */
const isLedgerReport = (report: object): report is LedgerReport =>
  'recall' in report && 'precision' in report && 'verbatim' in report;

export const tiers = ['tier1', 'tier2', 'tier3'] as const;
