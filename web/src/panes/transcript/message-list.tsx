import { useEffect, useRef } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import { liveSeq, type LiveTurn } from '#web/state/answer/live-turn.ts';
import { findTurn } from '#web/state/turn-pages.ts';
import { FoldMark } from './fold-mark.tsx';
import { LiveRow } from './live-row.tsx';
import { StoredRow } from './stored-row.tsx';
import { useNewestInView } from './use-newest-in-view.ts';
import { useVirtualRows } from './use-virtual-rows.ts';
import type { TranscriptProps } from './transcript-props.ts';

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

function Row({
  index,
  of,
  showTurn,
}: {
  index: number;
  of: TranscriptProps;
  showTurn: (seq: number) => void;
}) {
  const { transcript, answers } = of.conversation;
  const turnCount = transcript.turnCount.value;
  const { bySeq, later } = rowsOf(turnCount, answers.live.value);
  const seq = index + 1;
  const live = bySeq.get(seq) ?? later[index - turnCount];
  if (live) return <LiveRow of={of} turn={live} />;
  const turn = findTurn(transcript.pages.value, seq);
  return <StoredRow of={of} seq={seq} turn={turn} showTurn={showTurn} />;
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

/** The whole transcript, of which the visible turns are in the document. */
export function MessageList(transcriptProps: TranscriptProps) {
  const { app, conversation } = transcriptProps;
  const { transcript, answers } = conversation;
  const texts = app.texts.value.transcript;
  const box = useRef<HTMLDivElement>(null);
  const { count } = rowsOf(transcript.turnCount.value, answers.live.value);
  const rows = useVirtualRows(box, count);
  const isNewestKept = useNewestInView(box);
  const showTurn = (seq: number) => {
    isNewestKept.value = false;
    rows.scrollToIndex(seq - 1, { align: 'center' });
  };
  const visible = rows.getVirtualItems();
  const first = (visible[0]?.index ?? 0) + 1;
  const last = Math.min((visible.at(-1)?.index ?? 0) + 1, transcript.turnCount.value);
  useEffect(() => {
    if (last >= first) void conversation.attempt(() => transcript.need(first, last));
  }, [first, last, transcript.pages.value]);
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
              <Row index={index} of={transcriptProps} showTurn={showTurn} />
              <FoldMark app={app} conversation={conversation} seq={index + 1} />
            </div>
          ))}
        </div>
      </div>
      {!isNewestKept.value && (
        <button
          type="button"
          class="to-newest"
          aria-label={texts.toBottom}
          title={texts.toBottom}
          onClick={() => {
            isNewestKept.value = true;
            box.current?.scrollTo({ top: box.current.scrollHeight });
          }}
        >
          ↓
        </button>
      )}
    </div>
  );
}
