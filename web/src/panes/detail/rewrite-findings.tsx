import type { App } from '#web/state/app.ts';
import type { RewriteReport } from '#web/state/report.ts';

function Strings({
  title,
  count,
  list,
}: {
  title: string;
  count: string;
  list: readonly string[];
}) {
  if (list.length === 0) return null;
  return (
    <section>
      <h4>
        {title} <span class="figure">({count})</span>
      </h4>
      <ul class="report-list">
        {list.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

/** What code found in a snapshot that the model wrote as a whole, and what it did about it. */
export function RewriteFindings({ app, report }: { app: App; report: RewriteReport }) {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const { appendedIdentifiers, missingIdentifiers, droppedLines } = report;
  const isClean = [appendedIdentifiers, missingIdentifiers, droppedLines].every(
    ({ length }) => length === 0,
  );
  return (
    <>
      <p class="quiet">{texts.rewritten(count(report.snapshotTokens))}</p>
      {isClean && <p>{texts.rewriteClean}</p>}
      <Strings
        title={texts.appended}
        count={count(appendedIdentifiers.length)}
        list={appendedIdentifiers}
      />
      <Strings
        title={texts.droppedLines}
        count={count(report.droppedLineCount)}
        list={droppedLines}
      />
      <Strings
        title={texts.missing}
        count={count(report.missingIdentifierCount)}
        list={missingIdentifiers}
      />
    </>
  );
}
