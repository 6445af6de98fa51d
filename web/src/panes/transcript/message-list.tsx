import { useEffect, useRef } from 'preact/hooks';
import { count } from '#web/figures.ts';
import type { ConversationProps } from '#web/state/app.ts';
import { toFolded } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { liveSeq, type LiveTurn } from '#web/state/live-turn.ts';
import { findTurn } from '#web/state/turn-pages.ts';
import { Button, IconButton } from '../controls.tsx';
import { useNewestInView, useVirtualRows } from './scrolling.ts';
import { LiveRow, StoredRow } from './turns.tsx';

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

function Row(props: {
  conversation: OpenConversation;
  index: number;
  showTurn: (seq: number) => void;
}) {
  const { conversation, index, showTurn } = props;
  const { transcript, answers } = conversation;
  const turnCount = transcript.turnCount.value;
  const { bySeq, later } = rowsOf(turnCount, answers.live.value);
  const seq = index + 1;
  const live = bySeq.get(seq) ?? later[index - turnCount];
  if (live) return <LiveRow conversation={conversation} turn={live} />;
  const turn = findTurn(transcript.pages.value, seq);
  if (turn) return <StoredRow conversation={conversation} turn={turn} showTurn={showTurn} />;
  // It is on its way.
  return (
    <article class="turn placeholder" aria-busy="true">
      <span class="for-listeners">Loading …</span>
    </article>
  );
}

/** The line below the last turn that the snapshot stands in for. */
function FoldMark({ app, conversation, seq }: ConversationProps & { seq: number }) {
  const { generation, upTo } = toFolded(conversation.compactions.value);
  if (upTo !== seq) return null;
  return (
    <div class="fold-mark quiet small">
      <span>Folded up to turn {count(upTo)}: the model sees the snapshot instead</span>
      <Button
        class="link"
        text="Show what was kept"
        onClick={() => (app.detail.value = generation)}
      />
    </div>
  );
}

const Empty = () => (
  <div class="empty">
    <img src="/icon.svg" alt="" width="48" height="48" />
    <h2>Ask something</h2>
    <p class="quiet">
      Every message stays in this transcript. When the context fills up, older turns are folded into
      a snapshot, and you can see what was kept.
    </p>
  </div>
);

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
export function MessageList({ app, conversation }: ConversationProps) {
  const { transcript, answers } = conversation;
  const box = useRef<HTMLDivElement>(null);
  const rowCount = rowsOf(transcript.turnCount.value, answers.live.value).count;
  const rows = useVirtualRows(box, rowCount);
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
      <div class="messages" ref={box} role="region" aria-label="Messages" tabIndex={0}>
        {rowCount === 0 && <Empty />}
        <div class="rows" style={{ height: `${rows.getTotalSize()}px` }}>
          {visible.map(({ index, start }) => (
            <div
              key={index}
              class="row"
              data-index={index}
              ref={(element) => rows.measureElement(element)}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row conversation={conversation} index={index} showTurn={showTurn} />
              <FoldMark app={app} conversation={conversation} seq={index + 1} />
            </div>
          ))}
        </div>
      </div>
      {!isNewestKept.value && (
        <IconButton
          class="icon-button to-newest"
          sign="↓"
          label="To the newest message"
          onClick={showNewest}
        />
      )}
    </div>
  );
}
