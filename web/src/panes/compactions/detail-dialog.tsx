import type { StoredMessage } from '#clients/typescript/src/index.ts';
import type { SnapshotReport } from '#shared/compaction/write-snapshot.ts';
import type { CompactionDetailView, SnapshotItemView } from '#shared/wire/resources/compaction.ts';
import { count, counted, inWords, percent } from '#web/figures.ts';
import { Button, closeDialog, IconButton, showModal } from '#web/panes/controls.tsx';
import type { ConversationProps } from '#web/state/app.ts';
import {
  isFrom,
  isSaving,
  isSnapshotReport,
  savedShare,
  turnsToShow,
} from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** Figures in a line each; those that are zero say nothing. */
const countLines = (report: SnapshotReport): string[] =>
  [
    `${counted(report.statements, 'new or changed statement')}, ${counted(report.values, 'value')} in them looked up`,
    report.topics > 0 && `${counted(report.topics, 'topic')} in the timeline`,
    report.sourcesAdded > 0 &&
      `${counted(report.sourcesAdded, 'turn')} added to the sources for a value said there`,
    report.withoutSource > 0 &&
      `${counted(report.withoutSource, 'statement')} without a source, marked as a whole`,
    report.archived > 0 && `${count(report.archived)} moved to the archive for room`,
    report.constraintsOverBudget && 'The constraints need more than their share of the room',
  ].filter((line) => line !== false);

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, each) => total + each, 0);

/**
 * What nobody was found to have said, and what of the answer did not become of the snapshot as the model asked.
 * Of each total the first fifty are listed.
 */
const findings = (report: SnapshotReport): [title: string, total: number, lines: string[]][] => [
  [
    'Values nobody was found to have said',
    report.markedCount,
    report.marked.map(({ text, values }) => `${text} (${values.join(', ')})`),
  ],
  [
    'Refused, or kept as knowledge',
    sum(report.refused),
    report.refusedTexts.map(({ text, reason }) => `${text} (${inWords(reason)})`),
  ],
  ['Removed', report.removedCount, report.removed.map(({ text, reason }) => `${text} (${reason})`)],
  ['Shortened', report.shortened.length, report.shortened],
  ['Left the archive', report.droppedCount, report.dropped],
];

const ReportList = ({ lines }: { lines: readonly string[] }) => (
  <ul class="report-list">
    {lines.map((line, at) => (
      <li key={at}>{line}</li>
    ))}
  </ul>
);

/** Of a snapshot without a report, by who wrote it. */
const strategyTexts: Readonly<Record<string, string>> = {
  'gemini-cli':
    'The model wrote the whole snapshot anew, in two passes. Its statements name no turns, and code did not compare them with what was said.',
  fallback:
    'Code alone wrote this, without a model: sentences of the turns, word for word. Nothing of it had to be checked.',
  copy: 'Taken over from the generation before, which was checked when it was made.',
};

/** Why one may trust a snapshot: what code found when it checked it. */
function VerificationReport({ strategy = '', report }: CompactionDetailView) {
  if (!isSnapshotReport(report))
    return <p class="quiet">{strategyTexts[strategy] ?? 'There is no report on this one.'}</p>;
  return (
    <div class="detail-list" tabIndex={0} role="group" aria-labelledby="detail-report">
      <ReportList lines={countLines(report)} />
      {findings(report)
        .filter(([, , lines]) => lines.length > 0)
        .map(([title, total, lines]) => (
          <section key={title}>
            <h4>{`${title} (${count(total)})`}</h4>
            <ReportList lines={lines} />
          </section>
        ))}
    </div>
  );
}

/** What the dialog shows, once it is read. */
interface Detail {
  compaction: CompactionDetailView;
  /** Messages of turns, by their number. */
  turns: ReadonlyMap<number, readonly StoredMessage[]>;
}

interface DetailProps {
  detail: Detail;
  /** The statement that was pointed at last: its turns are lit. */
  lit: Signal<SnapshotItemView | undefined>;
}

/** As many messages as are read at once. */
const PAGE_MESSAGES = 100;

/** The compaction, and the turns to show beside it in their order. Rejects with RecapError. */
async function readDetail({ chat }: OpenConversation, generation: number): Promise<Detail> {
  const compaction = await chat.call<CompactionDetailView>('GET', `/compactions/${generation}`);
  const seqs = turnsToShow(compaction);
  const found: StoredMessage[] = [];
  // One page after the other: a server takes only so many calls of one user at once.
  for (let next = seqs[0]; next !== undefined; next = seqs.find((seq) => seq > lastSeqOf(found))) {
    const query = { afterSeq: next - 1, pageSize: PAGE_MESSAGES };
    const { messages } = await chat.call<{ messages: StoredMessage[] }>('GET', '/messages', {
      query,
    });
    if (messages.length === 0) break;
    found.push(...messages);
  }
  const wanted = new Set(seqs);
  const shown = found.filter(({ seq }) => wanted.has(seq));
  return { compaction, turns: Map.groupBy(shown, ({ seq }) => seq) };
}

const lastSeqOf = (messages: readonly StoredMessage[]): number => messages.at(-1)?.seq ?? 0;

const textOf = ({ parts }: StoredMessage): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

/** What was folded; the turns of a statement are lit and brought into view. */
function FoldedTurns({ detail, lit }: DetailProps) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[data-lit=true]')?.scrollIntoView({ block: 'nearest' });
  }, [lit.value]);
  return (
    <ol class="detail-list folded-turns" ref={list} tabIndex={0} aria-labelledby="detail-turns">
      {[...detail.turns].map(([seq, messages]) => {
        const isLit = lit.value !== undefined && isFrom(lit.value, seq);
        return (
          <li key={seq} class="lightable" data-lit={isLit}>
            <p class="quiet small figure">
              Turn {count(seq)} {isLit && <span aria-hidden="true">●</span>}
            </p>
            {messages.map((message) => (
              <p key={message.id} class={message.role === 'user' ? 'said' : 'said quiet'}>
                {textOf(message)}
              </p>
            ))}
          </li>
        );
      })}
    </ol>
  );
}

/** The turns that a statement comes from, in words; empty where it names none. */
function sourcesText({ sources, through }: SnapshotItemView): string {
  const [first] = sources;
  if (first === undefined) return '';
  if (through !== undefined && through !== first) return `Turns ${count(first)}–${count(through)}`;
  return `${sources.length === 1 ? 'Turn' : 'Turns'} ${sources.map(count).join(', ')}`;
}

function Statement({ lit, item }: Pick<DetailProps, 'lit'> & { item: SnapshotItemView }) {
  const { id, section, text, quote, at, status, by } = item;
  const light = () => (lit.value = item);
  const chips = [
    sourcesText(item),
    section === 'timeline' && at,
    status && inWords(status),
    by === 'code' && 'word for word',
  ].filter((chip) => typeof chip === 'string' && chip !== '');
  return (
    <li>
      <Button
        class="statement lightable"
        data-lit={lit.value?.id === id}
        onMouseEnter={light}
        onFocus={light}
        onClick={light}
      >
        <span>{text}</span>
        {quote !== undefined && quote !== text && <q class="quiet small">{quote}</q>}
        <span class="bar">
          {chips.map((chip) => (
            <span key={chip} class="chip figure">
              {chip}
            </span>
          ))}
        </span>
      </Button>
    </li>
  );
}

/** Behind a value of a snapshot that nobody was found to have said. */
const UNSAID_MARK = '⁇';

/** What was kept, statement by statement: by section, in the order in which the snapshot has them. */
function Statements({ detail, lit }: DetailProps) {
  const items = detail.compaction.snapshot ?? [];
  if (items.length === 0)
    return <p class="quiet">No snapshot: nothing is folded in this generation.</p>;
  const sections = Map.groupBy(items, ({ layer, section }) =>
    layer === 'archive' ? 'Archive: in the context where there is room' : inWords(section),
  );
  return (
    <div class="detail-list">
      {items.some(({ text }) => text.includes(UNSAID_MARK)) && (
        <p class="quiet small">
          {UNSAID_MARK} stands behind a value that nobody was found to have said.
        </p>
      )}
      {[...sections].map(([title, statements]) => (
        <section key={title}>
          <h4>{title}</h4>
          <ul>
            {statements.map((item) => (
              <Statement key={item.id} lit={lit} item={item} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Body({ detail }: { detail: Detail }) {
  const lit = useSignal<SnapshotItemView | undefined>(undefined);
  return (
    <div class="detail-body">
      <section aria-labelledby="detail-turns">
        <h3 id="detail-turns">Folded turns</h3>
        <FoldedTurns detail={detail} lit={lit} />
      </section>
      <section aria-labelledby="detail-snapshot">
        <h3 id="detail-snapshot">Snapshot</h3>
        <p class="quiet small">
          Point at a statement, or move to it with the keyboard, to see the turns that say so.
        </p>
        <Statements detail={detail} lit={lit} />
      </section>
      <section aria-labelledby="detail-report">
        <h3 id="detail-report">Verification</h3>
        <VerificationReport {...detail.compaction} />
      </section>
    </div>
  );
}

/** One compaction: what was folded, what was kept of it, and why one may trust that. */
export function DetailDialog(props: ConversationProps & { generation: number }) {
  const { app, conversation, generation } = props;
  const detail = useSignal<Detail | undefined>(undefined);
  const compaction = detail.value?.compaction;
  useEffect(() => {
    void conversation
      .attempt(() => readDetail(conversation, generation))
      .then((read) => {
        detail.value = read;
        if (!read) app.detail.value = undefined;
      });
  }, [generation]);
  return (
    <dialog
      ref={showModal}
      class="detail"
      aria-labelledby="detail-title"
      onClose={() => (app.detail.value = undefined)}
    >
      <header class="bar">
        <h2 id="detail-title">Compaction {count(generation)}</h2>
        {compaction ? (
          <p class="figure">
            {count(compaction.beforeTokens)} → <strong>{count(compaction.afterTokens)}</strong>{' '}
            tokens{' '}
            {isSaving(compaction) && (
              <span class="saved">{percent(savedShare(compaction))} saved</span>
            )}
          </p>
        ) : (
          <p class="quiet">Loading …</p>
        )}
        <IconButton class="icon-button at-end" sign="✕" label="Close" onClick={closeDialog} />
      </header>
      {detail.value && <Body detail={detail.value} />}
    </dialog>
  );
}
