import type { Finding } from './check-transcripts.ts';
import type { Oddity } from './ledger.ts';

/** What a run has found; all counts are of distinct messages, generations or conversations. */
export interface ChaosReport {
  minutes: number;
  seed: string;
  /** Different messages that phones sent. */
  sent: number;
  /** Of those, how many were answered, or refused for good. */
  acknowledged: number;
  /** Generations that workers made. */
  generations: number;
  kills: number;
  faults: Readonly<Record<string, number>>;
  findings: readonly Finding[];
  /** Replies that the interface does not have. */
  oddities: readonly Oddity[];
  /** Processes that ended by themselves. */
  crashes: readonly string[];
  /** Log entries of severity ERROR by event and reason: to be looked at, and no failure by themselves. */
  errors: Readonly<Record<string, number>>;
}

export const countOf = ({ findings }: Pick<ChaosReport, 'findings'>, kind: Finding['kind']) =>
  findings.filter((finding) => finding.kind === kind).length;

export const isClean = ({ findings, oddities, crashes }: ChaosReport): boolean =>
  findings.length === 0 && oddities.length === 0 && crashes.length === 0;

/** The figures for a machine. */
export const chaosFigures = (report: ChaosReport) => ({
  minutes: report.minutes,
  seed: report.seed,
  sent: report.sent,
  acknowledged: report.acknowledged,
  lost: countOf(report, 'lost'),
  doubled: countOf(report, 'doubled'),
  mismatched: countOf(report, 'mismatched') + report.oddities.length,
  unfinished: countOf(report, 'unfinished'),
  crashes: report.crashes.length,
  generations: report.generations,
  kills: report.kills,
  faults: report.faults,
});

const shownFindings = 20;

/** The figures for people, with what was found. */
export function describeReport(report: ChaosReport): string {
  const { lost, doubled, mismatched, unfinished, crashes } = chaosFigures(report);
  const faults = Object.entries(report.faults)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`);
  const problems = [
    ...report.findings.map(
      ({ kind, conversationId, messageId, what }) =>
        `  ${kind}: ${what} (${conversationId}${messageId === undefined ? '' : ` ${messageId}`})`,
    ),
    ...report.oddities.map(
      ({ what, conversationId, messageId }) =>
        `  odd reply: ${what} (${conversationId} ${messageId})`,
    ),
    ...report.crashes.map((how) => `  crash: ${how}`),
  ];
  const errors = Object.entries(report.errors).map(([event, count]) => `  ${count} × ${event}`);
  return [
    `${report.sent} messages sent, ${report.acknowledged} acknowledged, ${report.generations} generations made`,
    'faults survived:',
    ...faults,
    ...(errors.length > 0 ? ['errors in the logs of the functions:', ...errors] : []),
    ...problems.slice(0, shownFindings),
    ...(problems.length > shownFindings ? [`  … ${problems.length - shownFindings} more`] : []),
    `lost ${lost}, doubled ${doubled}, different ${mismatched}, unfinished ${unfinished}, crashed ${crashes}`,
  ].join('\n');
}
