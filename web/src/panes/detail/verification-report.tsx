import type { LedgerReport } from '#shared/compaction/ledger/ledger-report.ts';
import type { App } from '#web/state/app.ts';
import { readSnapshotReport, tiers, type SnapshotReport } from '#web/state/report.ts';
import type { Detail } from './detail.ts';
import { PinList } from './pin-list.tsx';
import { RewriteFindings } from './rewrite-findings.tsx';

/** How much of what was said the context still says. */
function Recall({ app, report }: { app: App; report: LedgerReport }) {
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
function Counts({ app, report }: { app: App; report: LedgerReport }) {
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

function Changed({ app, report }: { app: App; report: LedgerReport }) {
  const texts = app.texts.value.detail;
  const { doubtfulItems: doubtful = [] } = report;
  return (
    <>
      {report.repairedItems.length > 0 && (
        <section>
          <h4>{texts.repaired}</h4>
          <ul class="report-list">
            {report.repairedItems.map(({ id, before, after }) => (
              <li key={id}>
                <del>{before}</del> <ins>{after}</ins>
              </li>
            ))}
          </ul>
        </section>
      )}
      {report.droppedItems.length > 0 && (
        <section>
          <h4>{texts.dropped}</h4>
          <ul class="report-list">
            {report.droppedItems.map(({ id, text }) => (
              <li key={id}>
                <del>{text}</del>
              </li>
            ))}
          </ul>
        </section>
      )}
      {doubtful.length > 0 && (
        <section>
          <h4>{texts.unsupported}</h4>
          <ul class="report-list">
            {doubtful.map(({ id, text, cut, unconfirmed }) => (
              <li key={id}>
                {text}{' '}
                {cut.map((value) => (
                  <del key={value}>{value} </del>
                ))}
                {unconfirmed.map((value) => (
                  <span key={value} class="chip">
                    {value}
                  </span>
                ))}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function LeftOut({ app, report }: { app: App; report: LedgerReport }) {
  const texts = app.texts.value.detail;
  if (report.leftOut.length === 0) return null;
  return (
    <section>
      <h4>{texts.leftOut}</h4>
      <ul class="report-list">
        {report.leftOut.map(({ text, seq, archived }) => (
          <li key={`${seq}-${text}`}>
            {text} <span class="chip figure">{texts.turn(app.figures.value.count(seq))}</span>
            {archived && <span class="chip">{texts.inArchive}</span>}
          </li>
        ))}
      </ul>
    </section>
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
          <Changed app={app} report={found.report} />
          <LeftOut app={app} report={found.report} />
        </>
      );
    case 'rewrite':
      return <RewriteFindings app={app} report={found.report} />;
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
