import type { ComponentChildren } from 'preact';
import type { App } from '#web/state/app.ts';
import type { RewriteReport } from '#web/state/report.ts';

/** What was found of one kind; nothing where there is none. */
export function Findings<T>(found: {
  title: ComponentChildren;
  list: readonly T[];
  show: (each: T) => ComponentChildren;
}) {
  const { title, list, show } = found;
  if (list.length === 0) return null;
  return (
    <section>
      <h4>{title}</h4>
      <ul class="report-list">
        {list.map((each, at) => (
          <li key={at}>{show(each)}</li>
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
  const findings = [
    [texts.appended, appendedIdentifiers.length, appendedIdentifiers],
    [texts.droppedLines, report.droppedLineCount, droppedLines],
    [texts.missing, report.missingIdentifierCount, missingIdentifiers],
  ] as const;
  const isClean = findings.every(([, , { length }]) => length === 0);
  return (
    <>
      <p class="quiet">{texts.rewritten(count(report.snapshotTokens))}</p>
      {isClean && <p>{texts.rewriteClean}</p>}
      {findings.map(([name, found, list]) => {
        const title = [`${name} `, <span class="figure">({count(found)})</span>];
        return <Findings key={name} title={title} list={list} show={(text) => text} />;
      })}
    </>
  );
}
