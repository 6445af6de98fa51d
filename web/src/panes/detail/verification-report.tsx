import type { SnapshotReport } from '#shared/compaction/write-snapshot.ts';
import type { App } from '#web/state/app.ts';
import type { Detail } from '#web/state/context/provenance.ts';
import { readCheckOutcome, type CheckOutcome } from '#web/state/report.ts';
import { nameIn } from '#web/text/languages.ts';
import { Findings } from './findings.tsx';
import { PinList } from './pin-list.tsx';

interface ReportProps {
  app: App;
  report: SnapshotReport;
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, each) => total + each, 0);

/** Figures in a line each; those that are zero say nothing. */
function Counts({ app, report }: ReportProps) {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const lines = [
    texts.checked(count(report.statements), count(report.values)),
    report.topics > 0 && texts.topics(count(report.topics)),
    report.sourcesAdded > 0 && texts.sourcesAdded(count(report.sourcesAdded)),
    report.withoutSource > 0 && texts.withoutSource(count(report.withoutSource)),
    report.archived > 0 && texts.archived(count(report.archived)),
    report.constraintsOverBudget && texts.constraintsOverBudget,
  ].filter((line) => line !== false);
  return (
    <ul class="report-counts">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** What nobody was found to have said, and what of the answer did not become of the snapshot as the model asked. */
function Lists({ app, report }: ReportProps) {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const titled = (title: string, total: number) => (
    <>
      {title} <span class="figure">({count(total)})</span>
    </>
  );
  return (
    <>
      <Findings
        title={titled(texts.marked, report.markedCount)}
        list={report.marked}
        show={({ text, values }) => [
          `${text} `,
          ...values.map((value) => <span class="chip">{value}</span>),
        ]}
      />
      <Findings
        title={titled(texts.refused, sum(report.refused))}
        list={report.refusedTexts}
        show={({ text, reason }) => [
          `${text} `,
          <span class="quiet">{nameIn(texts.refusals, reason)}</span>,
        ]}
      />
      <Findings
        title={titled(texts.removed, report.removedCount)}
        list={report.removed}
        show={({ text, reason }) => [<del>{text}</del>, ' ', <span class="quiet">{reason}</span>]}
      />
      <Findings title={texts.shortened} list={report.shortened} show={(text) => text} />
      <Findings
        title={titled(texts.leftArchive, report.droppedCount)}
        list={report.dropped}
        show={(text) => <del>{text}</del>}
      />
    </>
  );
}

function Report({ app, outcome }: { app: App; outcome: CheckOutcome }) {
  const texts = app.texts.value.detail;
  switch (outcome.kind) {
    case 'checked':
      return (
        <>
          <Counts app={app} report={outcome.report} />
          <Lists app={app} report={outcome.report} />
        </>
      );
    case 'byModel':
      return <p class="quiet">{texts.byModel}</p>;
    case 'byCode':
      return <p class="quiet">{texts.byCode}</p>;
    case 'copied':
      return <p class="quiet">{texts.copied}</p>;
    case 'none':
      return <p class="quiet">{texts.noReport}</p>;
  }
}

/** Why one may trust a snapshot: what code found when it checked it. */
export function VerificationReport({ app, detail }: { app: App; detail: Detail }) {
  return (
    <div class="detail-list report" tabIndex={0} role="group" aria-labelledby="detail-report">
      <Report app={app} outcome={readCheckOutcome(detail.compaction)} />
      <PinList app={app} conversation={app.open.value} />
    </div>
  );
}
