import type { Finding, Oddity } from './checks/ledger.ts';

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
  /** Processes that were ended by SIGKILL. */
  kills: number;
  /** Processes that were ended by SIGTERM, and ended well. */
  terminations: number;
  faults: Readonly<Record<string, number>>;
  /** What phones did, and what they met. */
  actions: Readonly<Record<string, number>>;
  /**
   * The search for words of erased conversations and deleted messages: documents read, words of any
   * message found in them, words sought.
   */
  searched: { documents: number; words: number; sought: number };
  findings: readonly Finding[];
  /** Replies that the interface does not have. */
  oddities: readonly Oddity[];
  /** Processes that ended by themselves. */
  crashes: readonly string[];
  /** Log entries of severity ERROR by event and reason: to be looked at, and no failure by themselves. */
  errors: Readonly<Record<string, number>>;
}

const countOf = ({ findings }: Pick<ChaosReport, 'findings'>, kind: Finding['kind']) =>
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
  torn: countOf(report, 'torn'),
  leaked: countOf(report, 'leaked'),
  /** Permanent refusals of stored messages. */
  refused: countOf(report, 'refused'),
  crashes: report.crashes.length,
  generations: report.generations,
  kills: report.kills,
  terminations: report.terminations,
  searched: report.searched,
  faults: report.faults,
  actions: report.actions,
});

const countsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} × ${name}`)
    .join(', ');

/** The figures for people, with what was found. */
export function describeReport(report: ChaosReport): string {
  const { lost, doubled, refused, mismatched, unfinished, torn, leaked, crashes, searched } =
    chaosFigures(report);
  const problems = [
    ...report.findings.map(
      ({ kind, what, conversationId, messageId = '' }) =>
        `  ${kind}: ${what} (${conversationId} ${messageId})`,
    ),
    ...report.oddities.map(
      ({ what, conversationId, messageId = '' }) =>
        `  odd reply: ${what} (${conversationId} ${messageId})`,
    ),
    ...report.crashes.map((how) => `  crash: ${how}`),
  ];
  return [
    `${report.sent} messages sent, ${report.acknowledged} acknowledged, ${report.generations} generations made`,
    `what phones did and met: ${countsOf(report.actions)}`,
    `faults survived: ${countsOf(report.faults)}`,
    `errors in the logs of the functions: ${countsOf(report.errors)}`,
    `${searched.sought} erased words sought in ${searched.documents} documents with ${searched.words} words`,
    ...problems,
    `lost ${lost}, doubled ${doubled}, refused for good though stored ${refused}, different ${mismatched}, unfinished ${unfinished}, torn ${torn}, leaked ${leaked}, crashed ${crashes}`,
  ].join('\n');
}
