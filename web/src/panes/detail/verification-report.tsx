import type { LedgerReport } from '#shared/compaction/ledger/ledger-report.ts';
import type { App } from '#web/state/app.ts';
import type { Detail } from '#web/state/context/provenance.ts';
import { readSnapshotReport, tiers, type SnapshotReport } from '#web/state/report.ts';
import { Findings } from './findings.tsx';
import { PinList } from './pin-list.tsx';

interface LedgerProps {
  app: App;
  report: LedgerReport;
}

/** How much of what was said the context still says. */
function Recall({ app, report }: LedgerProps) {
  const texts = app.texts.value.detail;
  const { count, percent } = app.figures.value;
  const known = tiers.filter((tier) => report.recall[tier].facts > 0);
  return (
    <section>
      <h4>{texts.recall}</h4>
      {known.map((tier) => {
        const { held, facts, archived, share } = report.recall[tier];
        return (
          <div key={tier} class="recall">
            <span>{texts.tiers[tier]}</span>
            <strong class="figure">{percent(share)}</strong>
            <span
              class="recall-bar"
              role="meter"
              aria-label={texts.tiers[tier]}
              aria-valuemin={0}
              aria-valuemax={100}
              aria-valuenow={Math.round(100 * share)}
            >
              <span style={{ inlineSize: `${100 * share}%` }} />
            </span>
            <span class="quiet figure">
              {texts.held(count(held), count(facts))}
              {archived > 0 && ` · ${texts.archived(count(archived))}`}
            </span>
          </div>
        );
      })}
    </section>
  );
}

/** Figures in a line each; those that are zero say nothing. */
function Counts({ app, report }: LedgerProps) {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const refused = Object.values(report.rejected).reduce((sum, each) => sum + each, 0);
  const lines = [
    texts.checked(count(report.precision.checked)),
    ...(report.verbatim.added > 0 ? [texts.added(count(report.verbatim.added))] : []),
    ...(report.evicted > 0 ? [texts.evicted(count(report.evicted))] : []),
    ...(refused > 0 ? [`${texts.rejected}: ${count(refused)}`] : []),
  ];
  return (
    <ul class="report-counts">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** Statements that did not stay as the model wrote them, and facts that it left out. */
function Changes({ app, report }: LedgerProps) {
  const texts = app.texts.value.detail;
  return (
    <>
      <Findings
        title={texts.repaired}
        list={report.repairedItems}
        show={({ before, after }) => [<del>{before}</del>, ' ', <ins>{after}</ins>]}
      />
      <Findings
        title={texts.dropped}
        list={report.droppedItems}
        show={({ text }) => <del>{text}</del>}
      />
      <Findings
        title={texts.unsupported}
        list={report.doubtfulItems ?? []}
        show={({ text, cut, unconfirmed }) => [
          `${text} `,
          ...cut.map((value) => <del>{value} </del>),
          ...unconfirmed.map((value) => <span class="chip">{value}</span>),
        ]}
      />
      <Findings
        title={texts.leftOut}
        list={report.leftOut}
        show={({ text, seq, archived }) => [
          `${text} `,
          <span class="chip figure">{texts.turn(app.figures.value.count(seq))}</span>,
          archived && <span class="chip">{texts.inArchive}</span>,
        ]}
      />
    </>
  );
}

function Report({ app, found }: { app: App; found: SnapshotReport }) {
  const texts = app.texts.value.detail;
  switch (found.kind) {
    case 'ledger':
      return (
        <>
          <Recall app={app} report={found.report} />
          <Counts app={app} report={found.report} />
          <Changes app={app} report={found.report} />
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
      <Report app={app} found={readSnapshotReport(detail.compaction)} />
      <PinList app={app} conversation={app.open.value} />
    </div>
  );
}
