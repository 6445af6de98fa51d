import { count } from '#web/figures.ts';
import { Button, IconButton, submit, ProblemBar } from '#web/panes/controls.tsx';
import type { ConversationProps } from '#web/state/app.ts';
import { toFolded } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { isOpen, partsText, type LiveTurn, liveSeq } from '#web/state/live-turn.ts';
import { findTurn } from '#web/state/transcript.ts';
import { LiveRow, StoredRow } from './turns.tsx';
import { useSignal, type Signal } from '@preact/signals';
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useRef, useLayoutEffect, useReducer, useState } from 'preact/hooks';

interface TranscriptProps {
  conversation: OpenConversation;
}

/** The newest answer for who listens, told when it has ended: in a log that nobody sees. */
function Announcer({ conversation }: TranscriptProps) {
  const ended = useSignal('');
  const turns = conversation.answers.live.value;
  useEffect(() => {
    const turn = turns.findLast((each) => !isOpen(each));
    if (turn) ended.value = partsText(turn.parts);
  }, [turns]);
  return (
    <div class="for-listeners" role="log" aria-live="polite" aria-label="Answer">
      {ended.value}
    </div>
  );
}

/** Height of a turn that was not shown yet: a question, and a short answer. */
const ESTIMATED_PX = 120;

/** Rows above and below the visible ones. */
const OVERSCAN = 6;

type VirtualRows = Virtualizer<HTMLDivElement, HTMLElement>;

/** The rows of a long list that are to be in the document, each measured once it is. */
function useVirtualRows(box: RefObject<HTMLDivElement | null>, rowCount: number): VirtualRows {
  const [, draw] = useReducer<number, undefined>((drawn) => drawn + 1, 0);
  const options = {
    count: rowCount,
    getScrollElement: () => box.current,
    estimateSize: () => ESTIMATED_PX,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  };
  const [rows] = useState<VirtualRows>(() => new Virtualizer(options));
  rows.setOptions(options);
  // oxlint-disable no-underscore-dangle -- the names by which the package lets frameworks drive it
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  // oxlint-enable no-underscore-dangle
  return rows;
}

/** So near the end counts as at the end. */
const END_PX = 48;

/**
 * Keeps the newest message in view until the reader scrolls up, and again from when they come back to the
 * end. The signal tells whether it is kept.
 */
function useNewestInView(box: RefObject<HTMLDivElement | null>): Signal<boolean> {
  const isKept = useSignal(true);
  const lastTop = useRef(0);
  /** Looks where the view stands, and whether the reader has moved it. */
  const look = (current: HTMLDivElement): void => {
    const { scrollTop, scrollHeight, clientHeight } = current;
    if (scrollHeight - scrollTop - clientHeight < END_PX) isKept.value = true;
    // Rows that turn out smaller than estimated move the view as well, but not by the reader's hand.
    else if (scrollTop < lastTop.current - 1) isKept.value = false;
    lastTop.current = scrollTop;
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (!current || !isKept.peek()) return;
    // What is drawn between a reader's move and the event that tells of it must not undo the move.
    look(current);
    if (!isKept.peek()) return;
    current.scrollTop = current.scrollHeight;
    lastTop.current = current.scrollTop;
  });
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const lookAgain = (): void => look(current);
    current.addEventListener('scroll', lookAgain, { passive: true });
    return () => current.removeEventListener('scroll', lookAgain);
  }, []);
  return isKept;
}

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
  <p class="empty quiet">
    Every message stays in this transcript. When the context fills up, older turns are folded into a
    snapshot, and you can see what was kept.
  </p>
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
function MessageList({ app, conversation }: ConversationProps) {
  const { transcript, answers } = conversation;
  const box = useRef<HTMLDivElement>(null);
  const rowCount = rowsOf(transcript.turnCount.value, answers.live.value).count;
  const rows = useVirtualRows(box, rowCount);
  const isNewestKept = useNewestInView(box);
  const showTurn = (seq: number, align: 'center' | 'start' = 'center'): void => {
    isNewestKept.value = false;
    rows.scrollToIndex(seq - 1, { align });
  };
  const target = conversation.target.value;
  const isTargetThere = target !== undefined && target <= transcript.turnCount.value;
  useEffect(() => {
    if (!isTargetThere) return;
    // What was found in a turn longer than the view is read from its beginning.
    showTurn(target, 'start');
    conversation.target.value = undefined;
  }, [target, isTargetThere]);
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

/** Enter ends a composition of an input method first; Safari tells of it by key code 229 alone. */
const sends = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229;

function SendButton({ conversation }: TranscriptProps) {
  const running = conversation.answers.live.value.find(isOpen);
  if (!running)
    return (
      <Button
        type="submit"
        class="button primary"
        text="Send"
        disabled={conversation.draft.text.value.trim() === ''}
      />
    );
  const { turnId } = running;
  return (
    <Button
      class="button"
      text="Stop"
      disabled={turnId === undefined}
      onClick={() => {
        if (turnId !== undefined) void conversation.attempt(() => conversation.api.cancel(turnId));
      }}
    />
  );
}

function clear({ draft }: OpenConversation): void {
  draft.text.value = '';
  draft.edited.value = undefined;
}

/** Sends what is written, unless that is nothing or an answer is on its way. */
function send(conversation: OpenConversation): void {
  const { answers, draft } = conversation;
  const text = draft.text.value.trim();
  if (text === '' || answers.live.value.some(isOpen)) return;
  const messageId = crypto.randomUUID();
  const editedId = draft.edited.value?.messageId;
  answers.ask(
    editedId === undefined
      ? { kind: 'send', messageId, text }
      : { kind: 'edit', messageId, text, editedId },
  );
  clear(conversation);
}

/** Where a message is written. */
function Composer({ conversation }: TranscriptProps) {
  const { text: written, edited } = conversation.draft;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // A phone is not covered by its keyboard.
    if (edited.value !== undefined || matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, [edited.value]);
  return (
    <form class="composer bar" onSubmit={submit(() => send(conversation))}>
      {edited.value !== undefined && (
        <p class="composer-edit quiet small" role="status">
          You change turn {count(edited.value.seq)}: what you send takes its place and that of all
          that follows. <Button class="link" text="Cancel" onClick={() => clear(conversation)} />
        </p>
      )}
      <textarea
        ref={field}
        rows={1}
        aria-label="Message"
        placeholder="Write a message"
        title="Enter sends, Shift+Enter makes a new line"
        value={written.value}
        onInput={({ currentTarget }) => (written.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && edited.value !== undefined) clear(conversation);
          if (!sends(event)) return;
          event.preventDefault();
          send(conversation);
        }}
      />
      <SendButton conversation={conversation} />
    </form>
  );
}

export function TranscriptPane({ app, conversation }: ConversationProps) {
  const { view, answers, id } = conversation;
  const isNew = view.value === undefined && answers.live.value.length === 0;
  const title = app.nameOf({ id, title: view.value?.title }) ?? (isNew ? 'New chat' : 'Untitled');
  return (
    <main class="pane transcript" aria-label="Transcript">
      <header class="pane-head transcript-head bar">
        <h2 class="one-line">{title}</h2>
      </header>
      <MessageList app={app} conversation={conversation} />
      <Announcer conversation={conversation} />
      <ProblemBar problem={conversation.problem} />
      <Composer conversation={conversation} />
    </main>
  );
}
