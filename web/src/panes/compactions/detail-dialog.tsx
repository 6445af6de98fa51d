import type { RefusalReason } from '#shared/compaction/apply.ts';
import type { SnapshotReport } from '#shared/compaction/write-snapshot.ts';
import type { CompactionDetailView, SnapshotItemView } from '#shared/wire/resources/compaction.ts';
import { count, counted, percent } from '#web/figures.ts';
import { PinList } from '#web/panes/context/context-pane.tsx';
import { Button, closeDialog, IconButton, showModal } from '#web/panes/controls.tsx';
import type { ConversationProps } from '#web/state/app.ts';
import {
  readCheckOutcome,
  isCarried,
  isFrom,
  isSaving,
  savedShare,
  turnsToShow,
  UNSAID_MARK,
} from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import {
  pageNumber,
  seqBefore,
  textOfMessage,
  toTurns,
  TURNS_PER_PAGE,
  type StoredTurn,
} from '#web/state/transcript.ts';
import { useSignal, type Signal } from '@preact/signals';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

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
function VerificationReport(props: {
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

/** What the dialog shows, once it is read. */
interface Detail {
  compaction: CompactionDetailView;
  turns: readonly StoredTurn[];
}

/** What is pointed at: a statement lights its turns, a turn its statements. */
type Lit = Signal<{ item?: string; seq?: number }>;

interface DetailProps {
  detail: Detail;
  lit: Lit;
}

/** The compaction, and the turns to show beside it in their order. Throws ApiError. */
async function readDetail(
  { api, refreshPins }: OpenConversation,
  generation: number,
): Promise<Detail> {
  const [compaction] = await Promise.all([api.compaction(generation), refreshPins()]);
  const seqs = turnsToShow(compaction);
  const wanted = new Set(seqs);
  const turns: StoredTurn[] = [];
  // One page after the other: a server takes only so many calls of one user at once.
  for (const page of new Set(seqs.map(pageNumber))) {
    const { messages } = await api.messages(seqBefore(page), 2 * TURNS_PER_PAGE);
    turns.push(...toTurns(messages).filter((turn) => wanted.delete(turn.seq)));
  }
  return { compaction, turns };
}

/** Turns that the statement at hand comes from, or the turn at hand itself. */
function litTurns({ compaction, turns }: Detail, lit: Lit['value']): ReadonlySet<number> {
  if (lit.seq !== undefined) return new Set([lit.seq]);
  const item = compaction.snapshot?.find(({ id }) => id === lit.item);
  return new Set(
    item === undefined ? [] : turns.map(({ seq }) => seq).filter((seq) => isFrom(item, seq)),
  );
}

/** Where turns that were folded before and those of this compaction are both shown: which of them begin here. */
function groupTitle({ turns, compaction }: Detail, at: number): string | undefined {
  const { from = 1 } = compaction;
  const titleOf = (turn: StoredTurn | undefined) =>
    turn && (turn.seq < from ? 'Folded before' : 'Folded by this compaction');
  const title = titleOf(turns[at]);
  const isMixed = titleOf(turns[0]) !== titleOf(turns.at(-1));
  return isMixed && title !== titleOf(turns[at - 1]) ? title : undefined;
}

/** What was folded; the turns of the statement at hand are lit and brought into view. */
function FoldedTurns({ detail, lit }: DetailProps) {
  const list = useRef<HTMLOListElement>(null);
  const shown = litTurns(detail, lit.value);
  const [firstLit] = shown;
  useEffect(() => {
    if (lit.value.item !== undefined && firstLit !== undefined)
      list.current?.querySelector(`[data-seq="${firstLit}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [lit.value.item, firstLit]);
  return (
    <ol class="detail-list folded-turns" ref={list} tabIndex={0} aria-labelledby="detail-turns">
      {detail.turns.map(({ seq, user, answer }, at) => {
        const title = groupTitle(detail, at);
        return (
          <li
            key={seq}
            class="lightable"
            data-seq={seq}
            data-lit={shown.has(seq)}
            onMouseEnter={() => (lit.value = { seq })}
            onMouseLeave={() => (lit.value = {})}
          >
            {title !== undefined && <h4>{title}</h4>}
            <p class="quiet small figure">
              Turn {count(seq)} {shown.has(seq) && <span aria-hidden="true">●</span>}
            </p>
            <p class="said">{textOfMessage(user)}</p>
            {answer && <p class="said quiet">{textOfMessage(answer)}</p>}
          </li>
        );
      })}
    </ol>
  );
}

const sectionNames: Readonly<Record<string, string>> = {
  overall_goal: 'Goal',
  user_profile: 'You',
  active_constraints: 'Constraints',
  key_knowledge: 'Knowledge',
  decisions: 'Decisions',
  open_questions: 'Open questions',
  artifacts: 'Artifacts',
  artifact_trail: 'Artifacts',
  file_system_state: 'Files',
  recent_actions: 'Recent actions',
  task_state: 'Task',
  timeline: 'Timeline',
};

const statusNames = { todo: 'to do', in_progress: 'in progress', done: 'done', tried: 'tried' };

/** A text whose marks tell what they mean. */
function MarkedText({ text }: { text: string }) {
  const [head, ...rest] = text.split(UNSAID_MARK);
  return (
    <span>
      {head}
      {rest.map((piece, at) => (
        <Fragment key={at}>
          <abbr class="unsaid" title="Nobody was found to have said this value.">
            {UNSAID_MARK}
          </abbr>
          {piece}
        </Fragment>
      ))}
    </span>
  );
}

/** The turns that a statement comes from, in words; empty where it names none. */
function sourcesText({ sources, through }: SnapshotItemView): string {
  const [first] = sources;
  if (first === undefined) return '';
  if (through !== undefined && through !== first) return `Turns ${count(first)}–${count(through)}`;
  return `${sources.length === 1 ? 'Turn' : 'Turns'} ${sources.map(count).join(', ')}`;
}

function Item({ detail, lit, item }: DetailProps & { item: SnapshotItemView }) {
  const light = () => (lit.value = { item: item.id });
  const putOut = () => (lit.value = {});
  const { seq } = lit.value;
  const chips = [
    sourcesText(item),
    item.status && statusNames[item.status],
    item.by === 'code' && 'word for word',
    isCarried(item, detail.compaction) && 'carried over',
  ].filter((chip) => typeof chip === 'string' && chip !== '');
  return (
    <li>
      <Button
        class="statement lightable"
        data-lit={lit.value.item === item.id || (seq !== undefined && isFrom(item, seq))}
        onMouseEnter={light}
        onFocus={light}
        onClick={light}
        onMouseLeave={putOut}
        onBlur={putOut}
      >
        <MarkedText text={item.text} />
        {item.quote !== undefined && item.quote !== item.text && (
          <q class="quiet small">{item.quote}</q>
        )}
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

/** Whether a topic is the first of its day: the timeline shows each day once. */
const beginsDay = (items: readonly SnapshotItemView[], at: number): boolean =>
  items[at]?.section === 'timeline' &&
  items[at].at !== undefined &&
  items[at].at !== items[at - 1]?.at;

/** Statements by section, in the order in which the snapshot has them. */
function Sections({ items, ...props }: DetailProps & { items: readonly SnapshotItemView[] }) {
  return (
    <>
      {[...Map.groupBy(items, ({ section }) => section)].map(([section, statements]) => (
        <section key={section}>
          <h4>{sectionNames[section] ?? section}</h4>
          <ul>
            {statements.map((item, at) => (
              <Fragment key={item.id}>
                {beginsDay(statements, at) && <li class="quiet small figure">{item.at}</li>}
                <Item {...props} item={item} />
              </Fragment>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** What was kept, statement by statement. */
function SnapshotItems(props: DetailProps) {
  const items = props.detail.compaction.snapshot ?? [];
  const archive = items.filter(({ layer }) => layer === 'archive');
  if (items.length === 0)
    return <p class="quiet">No snapshot: nothing is folded in this generation.</p>;
  return (
    <div class="detail-list">
      {items.some(({ text }) => text.includes(UNSAID_MARK)) && (
        <p class="quiet small">
          <span class="unsaid">{UNSAID_MARK}</span> stands behind a value that nobody was found to
          have said.
        </p>
      )}
      <Sections {...props} items={items.filter(({ layer }) => layer === 'working')} />
      {archive.length > 0 && (
        <details>
          <summary>
            Archive: kept for search, in the context where there is room{' '}
            <span class="figure">({count(archive.length)})</span>
          </summary>
          <Sections {...props} items={archive} />
        </details>
      )}
    </div>
  );
}

function Body({ conversation, detail }: { conversation: OpenConversation; detail: Detail }) {
  const lit: Lit = useSignal({});
  const { snapshot = [] } = detail.compaction;
  const hasSources = snapshot.length === 0 || snapshot.some(({ sources }) => sources.length > 0);
  return (
    <div class="detail-body">
      <section aria-labelledby="detail-turns">
        <h3 id="detail-turns">Folded turns</h3>
        <FoldedTurns detail={detail} lit={lit} />
      </section>
      <section aria-labelledby="detail-snapshot">
        <h3 id="detail-snapshot">Snapshot</h3>
        <p class="quiet small">
          {hasSources
            ? 'Point at a statement, or move to it with the keyboard, to see the turns that say so.'
            : 'The model wrote it anew as a whole: its statements name no turns.'}
        </p>
        <SnapshotItems detail={detail} lit={lit} />
      </section>
      <section aria-labelledby="detail-report">
        <h3 id="detail-report">Verification</h3>
        <VerificationReport compaction={detail.compaction} conversation={conversation} />
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
      {detail.value && <Body conversation={conversation} detail={detail.value} />}
    </dialog>
  );
}
