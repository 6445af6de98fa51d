import { useEffect, useRef } from 'preact/hooks';
import { liveSeq, type LiveTurn } from '#web/state/answer/live-turn.ts';
import type { App, ConversationProps } from '#web/state/app.ts';
import { toFolded } from '#web/state/context/gauge.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { findTurn } from '#web/state/turn-pages.ts';
import { Button, IconButton } from '../controls.tsx';
import { LiveRow } from './live-row.tsx';
import { StoredRow } from './stored-row.tsx';
import { useNewestInView } from './use-newest-in-view.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

/** Turns that are not stored yet stand behind those that are. */
function rowsOf(turnCount: number, live: readonly LiveTurn[]) {
  const bySeq = new Map<number, LiveTurn>();
  const later: LiveTurn[] = [];
  for (const turn of live) {
    const seq = liveSeq(turn);
    if (seq !== undefined && seq <= turnCount) bySeq.set(seq, turn);
    else later.push(turn);
  }
  return { bySeq, later, count: turnCount + later.length };
}

function Row(props: ConversationProps & { index: number; showTurn: (seq: number) => void }) {
  const { conversation, index } = props;
  const { transcript, answers } = conversation;
  const turnCount = transcript.turnCount.value;
  const { bySeq, later } = rowsOf(turnCount, answers.live.value);
  const seq = index + 1;
  const live = bySeq.get(seq) ?? later[index - turnCount];
  if (live) return <LiveRow {...props} turn={live} />;
  const turn = findTurn(transcript.pages.value, seq);
  return turn ? <StoredRow {...props} turn={turn} /> : <Placeholder app={props.app} />;
}

/** A turn that is on its way. */
const Placeholder = ({ app }: { app: App }) => (
  <article class="turn placeholder" aria-busy="true">
    <span class="for-listeners">{app.texts.value.transcript.loading}</span>
  </article>
);

/** The line below the last turn that the snapshot stands in for. */
function FoldMark({ app, conversation, seq }: ConversationProps & { seq: number }) {
  const { generation, upTo } = toFolded(conversation.compactions.value);
  if (upTo !== seq) return null;
  const { transcript: texts, events } = app.texts.value;
  return (
    <div class="fold-mark">
      <span>{texts.foldMark(app.figures.value.count(upTo))}</span>
      <Button class="link" text={events.details} onClick={() => (app.detail.value = generation)} />
    </div>
  );
}

function Empty({ app }: { app: App }) {
  const texts = app.texts.value.transcript;
  return (
    <div class="empty">
      <img src="/icon.svg" alt="" width="48" height="48" />
      <p class="empty-title">{texts.empty}</p>
      <p class="quiet">{texts.emptyHint}</p>
    </div>
  );
}

/** Has the transcript read the turns of the visible rows. */
function useVisibleTurns(
  conversation: OpenConversation,
  visible: readonly { index: number }[],
): void {
  const { transcript } = conversation;
  const first = (visible[0]?.index ?? 0) + 1;
  const last = Math.min((visible.at(-1)?.index ?? 0) + 1, transcript.turnCount.value);
  useEffect(() => {
    if (last >= first) void conversation.attempt(() => transcript.need(first, last));
  }, [first, last, transcript.pages.value]);
}

/** The whole transcript, of which the visible turns are in the document. */
export function MessageList(props: ConversationProps) {
  const { app, conversation } = props;
  const { transcript, answers } = conversation;
  const texts = app.texts.value.transcript;
  const box = useRef<HTMLDivElement>(null);
  const { count } = rowsOf(transcript.turnCount.value, answers.live.value);
  const rows = useVirtualRows(box, count);
  const isNewestKept = useNewestInView(box);
  const showTurn = (seq: number): void => {
    isNewestKept.value = false;
    rows.scrollToIndex(seq - 1, { align: 'center' });
  };
  const showNewest = (): void => {
    isNewestKept.value = true;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  const visible = rows.getVirtualItems();
  useVisibleTurns(conversation, visible);
  return (
    <div class="messages-frame">
      <div class="messages" ref={box} role="region" aria-label={texts.label} tabIndex={0}>
        {count === 0 && <Empty app={app} />}
        <div class="rows" style={{ height: `${rows.getTotalSize()}px` }}>
          {visible.map(({ index, start }) => (
            <div
              key={index}
              class="row"
              data-index={index}
              ref={(element) => rows.measureElement(element)}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row {...props} index={index} showTurn={showTurn} />
              <FoldMark {...props} seq={index + 1} />
            </div>
          ))}
        </div>
      </div>
      {!isNewestKept.value && (
        <IconButton class="to-newest" sign="↓" label={texts.toBottom} onClick={showNewest} />
      )}
    </div>
  );
}
