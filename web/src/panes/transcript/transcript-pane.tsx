import { count } from '#web/figures.ts';
import { Button, IconButton, submit, ProblemBar } from '#web/panes/controls.tsx';
import type { ConversationProps } from '#web/state/app.ts';
import { toFolded } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { TurnRow } from './turns.tsx';
import { useSignal, type Signal } from '@preact/signals';
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

interface TranscriptProps {
  conversation: OpenConversation;
}

/** The newest answer for who listens, told when it has ended: in a log that nobody sees. */
function Announcer({ conversation }: TranscriptProps) {
  const ended = useSignal('');
  const { isAnswering, messages } = conversation.state.value;
  const wasAnswering = useRef(false);
  useEffect(() => {
    if (wasAnswering.current && !isAnswering) ended.value = messages.at(-1)?.text ?? '';
    wasAnswering.current = isAnswering;
  }, [isAnswering]);
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

/** Above the first row and below the last one. */
const PADDING_PX = 12;

/** The rows of a long list that are to be in the document, each measured once it is. */
function useVirtualRows(
  box: RefObject<HTMLDivElement | null>,
  keys: readonly string[],
): VirtualRows {
  const [, draw] = useReducer<number, undefined>((drawn) => drawn + 1, 0);
  const options = {
    count: keys.length,
    getItemKey: (index: number) => keys[index] ?? index,
    paddingStart: PADDING_PX,
    paddingEnd: PADDING_PX,
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
 * Keeps the newest message in view until the reader scrolls up, and again from when they come back to the end. What a reader
 * further up sees stays where it is when rows come or go before it. The signal tells whether the newest is kept.
 */
function useSteadyView(
  box: RefObject<HTMLDivElement | null>,
  rows: VirtualRows,
  { keys, hasNewer }: { keys: readonly string[]; hasNewer: boolean },
): Signal<boolean> {
  const isKept = useSignal(true);
  const last = useRef({ top: 0, firstKey: keys[0], row: rows.getVirtualItems()[0] });
  /** Looks where the view stands, and whether the reader has moved it. */
  const look = (current: HTMLDivElement): void => {
    const { scrollTop, scrollHeight, clientHeight } = current;
    if (hasNewer) isKept.value = false;
    else if (scrollHeight - scrollTop - clientHeight < END_PX) isKept.value = true;
    // Rows that turn out smaller than estimated move the view as well, but not by the reader's hand.
    else if (scrollTop < last.current.top - 1) isKept.value = false;
    last.current.top = scrollTop;
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    const { firstKey, row } = last.current;
    // What is drawn between a reader's move and the event that tells of it must not undo the move.
    if (isKept.peek()) look(current);
    if (isKept.peek()) current.scrollTop = current.scrollHeight;
    else if (row && firstKey !== keys[0] && keys.includes(String(row.key))) {
      const found = rows.getOffsetForIndex(keys.indexOf(String(row.key)), 'start');
      if (found) current.scrollTop += found[0] - row.start;
    }
    const { scrollTop } = current;
    const topRow = rows.getVirtualItemForOffset(scrollTop);
    last.current = { top: scrollTop, firstKey: keys[0], row: topRow };
  });
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const lookAgain = (): void => look(current);
    current.addEventListener('scroll', lookAgain, { passive: true });
    return () => current.removeEventListener('scroll', lookAgain);
  }, [hasNewer]);
  return isKept;
}

/** The line below the last turn that the snapshot stands in for. */
function FoldMark({ app, conversation, seq }: ConversationProps & { seq: number | undefined }) {
  const { generation, upTo } = toFolded(conversation.compactions.value);
  if (upTo === 0 || upTo !== seq) return null;
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

/** Rows from the end of what is known at which more is read, and as many as are read at once. */
const NEAR_ROWS = 10;
const READ_MESSAGES = 100;

/** Reads what comes before or behind the known turns when the reader comes near. */
function useMoreTurns(
  { state, chat, turns, attempt }: OpenConversation,
  rows: VirtualRows,
  isNewestKept: boolean,
): void {
  const { hasOlder, hasNewer, isLoaded } = state.value;
  const { startIndex, endIndex } = rows.range ?? { startIndex: Infinity, endIndex: 0 };
  // Who reads the newest comes near the first ones only where these are few.
  const isNearFirst = isNewestKept
    ? rows.getTotalSize() <= (rows.scrollRect?.height ?? 0)
    : startIndex < NEAR_ROWS;
  const wantsOlder = isLoaded && hasOlder && isNearFirst;
  const wantsNewer = isLoaded && hasNewer && endIndex > turns.value.length - NEAR_ROWS;
  useEffect(() => {
    if (wantsOlder) void attempt(() => chat.loadOlder(READ_MESSAGES));
    else if (wantsNewer) void attempt(() => chat.loadNewer(READ_MESSAGES));
  }, [wantsOlder, wantsNewer, turns.value.length, turns.value[0]?.key]);
}

/** The transcript, of which the visible turns are in the document. */
function MessageList({ app, conversation }: ConversationProps) {
  const { state, target } = conversation;
  const { isLoaded, hasNewer, problem } = state.value;
  // What waits to be sent stands behind what is in the store, and is known before.
  const isKnown =
    isLoaded || problem !== undefined || state.value.transcript.some(({ seq }) => seq);
  const turns = isKnown ? conversation.turns.value : [];
  const box = useRef<HTMLDivElement>(null);
  const keys = turns.map(({ key }) => key);
  const rows = useVirtualRows(box, keys);
  const isNewestKept = useSteadyView(box, rows, { keys, hasNewer });
  const index =
    target.value === Infinity
      ? turns.length - 1
      : turns.findIndex(({ seq }) => seq !== undefined && seq === target.value);
  useEffect(() => {
    if (index < 0) return;
    isNewestKept.value = target.value === Infinity;
    // What was found in a turn longer than the view is read from its beginning.
    rows.scrollToIndex(index, { align: isNewestKept.value ? 'end' : 'start' });
    target.value = undefined;
  }, [index]);
  useMoreTurns(conversation, rows, isNewestKept.value);
  return (
    <div class="messages-frame">
      <div class="messages" ref={box} role="region" aria-label="Messages" tabIndex={0}>
        {turns.length === 0 && isLoaded && <Empty />}
        <div class="rows" style={{ height: `${rows.getTotalSize()}px` }}>
          {rows.getVirtualItems().map(({ key, index: at, start }) => {
            const turn = turns[at];
            return (
              turn && (
                <div
                  key={key}
                  class="row"
                  data-index={at}
                  ref={(element) => rows.measureElement(element)}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <TurnRow app={app} conversation={conversation} turn={turn} />
                  <FoldMark app={app} conversation={conversation} seq={turn.seq} />
                </div>
              )
            );
          })}
        </div>
      </div>
      {(!isNewestKept.value || hasNewer) && (
        <IconButton
          class="icon-button to-newest"
          sign="↓"
          label="To the newest message"
          onClick={() => void conversation.showNewest()}
        />
      )}
    </div>
  );
}

/** Enter ends a composition of an input method first; Safari tells of it by key code 229 alone. */
const sends = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229;

/** Stops the answer that is on its way, unless there is something to be sent. */
function SendButton({ conversation }: TranscriptProps) {
  const { chat, draft, state, isCut, attempt } = conversation;
  const isEmpty = draft.text.value.trim() === '';
  const { isAnswering, messages } = state.value;
  const isSending = !isCut.value && messages.some((each) => each.state === 'pending');
  if (!isEmpty || !(isAnswering || isSending))
    return <Button type="submit" class="button primary" text="Send" disabled={isEmpty} />;
  return <Button class="button" text="Stop" onClick={() => void attempt(() => chat.stop())} />;
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
    <form class="composer bar" onSubmit={submit(() => conversation.send())}>
      {edited.value !== undefined && (
        <p class="composer-edit quiet small" role="status">
          You change turn {count(edited.value.seq)}: what you send takes its place and that of all
          that follows.{' '}
          <Button class="link" text="Cancel" onClick={() => conversation.clearDraft()} />
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
          if (event.key === 'Escape' && edited.value !== undefined) conversation.clearDraft();
          if (!sends(event)) return;
          event.preventDefault();
          conversation.send();
        }}
      />
      <SendButton conversation={conversation} />
    </form>
  );
}

export function TranscriptPane({ app, conversation }: ConversationProps) {
  const { state, problem, id } = conversation;
  const { title, transcript } = state.value;
  const unnamed = transcript.length === 0 ? 'New chat' : 'Untitled';
  return (
    <main class="pane transcript" aria-label="Transcript">
      <header class="pane-head transcript-head bar">
        <h2 class="one-line">{app.nameOf({ id, title }) ?? unnamed}</h2>
      </header>
      <MessageList app={app} conversation={conversation} />
      <Announcer conversation={conversation} />
      <ProblemBar
        error={problem.value ?? state.value.problem}
        dismiss={problem.value && (() => (problem.value = undefined))}
      />
      <Composer conversation={conversation} />
    </main>
  );
}
