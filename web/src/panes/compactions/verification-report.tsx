import type { ComponentChildren } from 'preact';
import type { RefusalReason } from '#shared/compaction/apply.ts';
import type { SnapshotReport } from '#shared/compaction/write-snapshot.ts';
import type { CompactionDetailView } from '#shared/wire/resources/compaction.ts';
import { count, counted } from '#web/figures.ts';
import { readCheckOutcome } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { PinList } from '../context/pin-list.tsx';

const refusalTexts = {
  UNKNOWN_SECTION: 'names no section',
  UNKNOWN_ID: 'names no statement that is there',
  UNKNOWN_TURNS: 'names none of the folded turns',
  WORDS_OF_TOOL: 'a tool said it: no goal and no step of yours',
  NO_QUOTE: 'no words of yours are quoted for it',
  QUOTE_TOO_SHORT: 'the quote is too short',
  QUOTE_TOO_LONG: 'the quote is too long for a rule',
  QUOTE_NOT_OF_USER: 'the quote is no whole sentence of yours',
  QUOTE_NOT_LATER: 'you did not say it after the rule',
  REPETITIVE: 'it runs in a loop',
} satisfies Record<RefusalReason, string>;

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, each) => total + each, 0);

/** What was found of one kind; nothing where there is none. */
function Findings<T>(props: {
  title: string;
  /** Of these, at most the first fifty are listed. */
  total: number;
  list: readonly T[];
  show: (each: T) => ComponentChildren;
}) {
  const { title, total, list, show } = props;
  if (list.length === 0) return null;
  return (
    <section>
      <h4>
        {title} <span class="figure">({count(total)})</span>
      </h4>
      <ul class="report-list">
        {list.map((each, at) => (
          <li key={at}>{show(each)}</li>
        ))}
      </ul>
    </section>
  );
}

/** Figures in a line each; those that are zero say nothing. */
function Counts({ report }: { report: SnapshotReport }) {
  const lines = [
    `${counted(report.statements, 'new or changed statement')}, ${counted(report.values, 'value')} in them looked up`,
    report.topics > 0 && `${counted(report.topics, 'topic')} in the timeline`,
    report.sourcesAdded > 0 &&
      `${counted(report.sourcesAdded, 'turn')} added to the sources for a value said there`,
    report.withoutSource > 0 &&
      `${counted(report.withoutSource, 'statement')} without a source, marked as a whole`,
    report.archived > 0 && `${count(report.archived)} moved to the archive for room`,
    report.constraintsOverBudget && 'The constraints need more than their share of the room',
  ].filter((line) => line !== false);
  return (
    <ul class="report-list">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** What nobody was found to have said, and what of the answer did not become of the snapshot as the model asked. */
const Lists = ({ report }: { report: SnapshotReport }) => (
  <>
    <Findings
      title="Values nobody was found to have said"
      total={report.markedCount}
      list={report.marked}
      show={({ text, values }) => [
        `${text} `,
        ...values.map((value) => <span class="chip">{value}</span>),
      ]}
    />
    <Findings
      title="Refused, or kept as knowledge"
      total={sum(report.refused)}
      list={report.refusedTexts}
      show={({ text, reason }) => [`${text} `, <span class="quiet">{refusalTexts[reason]}</span>]}
    />
    <Findings
      title="Removed"
      total={report.removedCount}
      list={report.removed}
      show={({ text, reason }) => [<del>{text}</del>, ' ', <span class="quiet">{reason}</span>]}
    />
    <Findings
      title="Shortened"
      total={report.shortened.length}
      list={report.shortened}
      show={(text) => text}
    />
    <Findings
      title="Left the archive"
      total={report.droppedCount}
      list={report.dropped}
      show={(text) => <del>{text}</del>}
    />
  </>
);

const withoutReport = {
  byModel:
    'The model wrote the whole snapshot anew, in two passes. Its statements name no turns, and code did not compare them with what was said.',
  byCode:
    'Code alone wrote this, without a model: sentences of the turns, word for word. Nothing of it had to be checked.',
  copied: 'Taken over from the generation before, which was checked when it was made.',
  none: 'There is no report on this one.',
};

/** Why one may trust a snapshot: what code found when it checked it. */
export function VerificationReport(props: {
  compaction: CompactionDetailView;
  conversation: OpenConversation;
}) {
  const outcome = readCheckOutcome(props.compaction);
  return (
    <div class="detail-list report" tabIndex={0} role="group" aria-labelledby="detail-report">
      {outcome.kind === 'checked' ? (
        <>
          <Counts report={outcome.report} />
          <Lists report={outcome.report} />
        </>
      ) : (
        <p class="quiet">{withoutReport[outcome.kind]}</p>
      )}
      <PinList conversation={props.conversation} />
    </div>
  );
}
