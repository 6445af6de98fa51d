import type { Finding, Ledger } from './checks/ledger.ts';
import type { Tally } from './tally.ts';

/** What a run has found. */
export interface ChaosReport {
  minutes: number;
  seed: string;
  ledger: Ledger;
  tally: Tally;
  findings: readonly Finding[];
}

export const isClean = ({ findings, ledger, tally }: ChaosReport): boolean =>
  findings.length + ledger.oddities.length + tally.crashes.length === 0;

/** The figures for a machine; all counts are of distinct messages, generations or conversations. */
export function chaosFigures({ minutes, seed, ledger, tally, findings }: ChaosReport) {
  const count = (wanted: Finding['kind']) => findings.filter(({ kind }) => kind === wanted).length;
  return {
    minutes,
    seed,
    sent: ledger.sent.size,
    acknowledged: ledger.acknowledgedCount,
    lost: count('lost'),
    doubled: count('doubled'),
    mismatched: count('mismatched') + ledger.oddities.length,
    unfinished: count('unfinished'),
    torn: count('torn'),
    leaked: count('leaked'),
    /** Permanent refusals of stored messages. */
    refused: count('refused'),
    crashes: tally.crashes.length,
    generations: tally.generations,
    kills: tally.kills,
    terminations: tally.terminations,
    searched: tally.searched,
    faults: Object.fromEntries(tally.faults),
    actions: Object.fromEntries(tally.actions),
  };
}

const countsOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');

/** The figures for people, with what was found. */
export function describeReport(report: ChaosReport): string {
  const { ledger, tally } = report;
  const figures = chaosFigures(report);
  const { lost, doubled, refused, mismatched, unfinished, torn, leaked, crashes } = figures;
  const { sought, documents, words } = tally.searched;
  const problems = [
    ...report.findings,
    ...ledger.oddities.map((oddity) => ({ ...oddity, kind: 'odd reply' })),
  ].map(
    ({ kind, what, conversationId, messageId = '' }) =>
      `  ${kind}: ${what} (${conversationId} ${messageId})`,
  );
  return [
    `${figures.sent} messages sent, ${figures.acknowledged} acknowledged, ${figures.generations} generations made`,
    `what phones did and met: ${countsOf(tally.actions)}`,
    `faults survived: ${countsOf(tally.faults)}`,
    `errors in the logs of the functions: ${countsOf(tally.errors)}`,
    `${sought} erased words sought in ${documents} documents with ${words} words`,
    ...problems,
    ...tally.crashes.map((how) => `  crash: ${how}`),
    `lost ${lost}, doubled ${doubled}, refused for good though stored ${refused}, different ${mismatched}, unfinished ${unfinished}, torn ${torn}, leaked ${leaked}, crashed ${crashes}`,
  ].join('\n');
}
