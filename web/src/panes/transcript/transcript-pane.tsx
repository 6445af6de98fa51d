import { count } from '#web/figures.ts';
import { Button, IconButton, submit, ProblemBar } from '#web/panes/controls.tsx';
import type { ConversationProps } from '#web/state/app.ts';
import { toFolded } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { TurnRow } from './turns.tsx';
import { useSignal } from '@preact/signals';
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

/** So near the end counts as at the end. */
const END_PX = 48;

/**
 * The rows of a long list that are to be in the document, each measured once it is. Who reads at the end stays there; for
 * others what they read stays where it is, also when older rows come before it.
 */
function useVirtualRows(
  box: RefObject<HTMLDivElement | null>,
  keys: readonly string[],
): VirtualRows {
  const [, draw] = useReducer<number, undefined>((drawn) => drawn + 1, 0);
  const options = {
    count: keys.length,
    getItemKey: (index: number) => keys[index] ?? index,
    anchorTo: 'end' as const,
    followOnAppend: true,
    scrollEndThreshold: END_PX,
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
function useMoreTurns({ state, chat, turns, attempt }: OpenConversation, rows: VirtualRows): void {
  const { hasOlder, hasNewer, isLoaded } = state.value;
  const { startIndex, endIndex } = rows.range ?? { startIndex: Infinity, endIndex: 0 };
  const wantsOlder = isLoaded && hasOlder && startIndex < NEAR_ROWS;
  const wantsNewer = isLoaded && hasNewer && endIndex > turns.value.length - NEAR_ROWS;
  useEffect(() => {
    if (wantsOlder) void attempt(() => chat.loadOlder(READ_MESSAGES));
    else if (wantsNewer) void attempt(() => chat.loadNewer(READ_MESSAGES));
  }, [wantsOlder, wantsNewer, turns.value.length, turns.value[0]?.key]);
}

/** The transcript, of which the visible turns are in the document. */
function MessageList({ app, conversation }: ConversationProps) {
  const { state, target } = conversation;
  const turns = conversation.turns.value;
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualRows(
    box,
    turns.map(({ key }) => key),
  );
  const index =
    target.value === Infinity
      ? turns.length - 1
      : turns.findIndex(({ seq }) => seq !== undefined && seq === target.value);
  useEffect(() => {
    if (index < 0) return;
    // What was found in a turn longer than the view is read from its beginning.
    rows.scrollToIndex(index, { align: target.value === Infinity ? 'end' : 'start' });
    target.value = undefined;
  }, [index]);
  useMoreTurns(conversation, rows);
  const isAtNewest = rows.isAtEnd(END_PX) && !state.value.hasNewer;
  return (
    <div class="messages-frame">
      <div class="messages" ref={box} role="region" aria-label="Messages" tabIndex={0}>
        {turns.length === 0 && state.value.isLoaded && <Empty />}
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
      {!isAtNewest && (
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
function SendButton({ conversation: { chat, draft, state, attempt } }: TranscriptProps) {
  const isEmpty = draft.text.value.trim() === '';
  const { isAnswering, messages } = state.value;
  if (!isEmpty || !(isAnswering || messages.some((each) => each.state === 'pending')))
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
        dismiss={() => (problem.value = undefined)}
      />
      <Composer conversation={conversation} />
    </main>
  );
}
