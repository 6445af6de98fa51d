import { batch, computed, effect, signal } from '@preact/signals';
import { type Row, type Tool, createRecap, indexedDbStore } from '#clients/typescript/src/index.ts';
import type { PageConfig, Session } from '../api/session.ts';
import { createAttempts } from './attempts.ts';
import { openConversation, type OpenConversation } from './conversation.ts';
import { createFirstWords } from './first-words.ts';
import { createSearch } from './search.ts';
import { emptyWireLog, isCut, recordWire } from './wire-log.ts';

export type PaneName = 'conversations' | 'transcript' | 'context' | 'events';

interface AppParts {
  config: PageConfig;
  session: Session;
  storage: Pick<Storage, 'getItem' | 'setItem'>;
}

const idOfAddress = (): string | undefined => /^#\/c\/([\w-]+)$/.exec(location.hash)?.[1];

/** The conversation that is open, in step with the address; `begin` opens one, without an id a new one. */
function createNavigation(begin: (id: string | undefined) => OpenConversation) {
  const open = signal(begin(idOfAddress()));
  /** The generation whose compaction is shown in detail. */
  const detail = signal<number | undefined>(undefined);
  /** On narrow screens one pane is shown. */
  const pane = signal<PaneName>('transcript');

  function show(id: string | undefined): void {
    if (id !== undefined && id === open.value.id) return;
    open.value.leave();
    batch(() => {
      open.value = begin(id);
      detail.value = undefined;
      pane.value = 'transcript';
    });
  }

  /** With a turn: leads to it. */
  function select(id: string, seq?: number): void {
    show(id);
    if (seq !== undefined) void open.value.showTurn(seq);
    else if (open.value.state.value.hasNewer) void open.value.showNewest();
    pane.value = 'transcript';
    if (idOfAddress() !== id) history.pushState(null, '', `#/c/${id}`);
  }

  function startNew(): void {
    show(undefined);
    history.pushState(null, '', location.pathname);
  }
  addEventListener('popstate', () => show(idOfAddress()));
  return { open, detail, pane, select, startNew };
}

/** Whether somebody may be looking at the open transcript: another window may cover it, on narrow screens another pane. */
function watchTranscript({ pane }: Pick<ReturnType<typeof createNavigation>, 'pane'>) {
  const isVisible = signal(!document.hidden);
  document.addEventListener('visibilitychange', () => (isVisible.value = !document.hidden));
  const wide = matchMedia('(min-width: 900px)');
  return computed(() => isVisible.value && (pane.value === 'transcript' || wide.matches));
}

/** A call of the model that the user answers by hand; what is thrown into it is told to the model. */
type OpenCall = Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>;

/** Tools of every name, which the user is; the calls that wait for them. */
function createManualTools() {
  const openCalls = signal<ReadonlyMap<string, OpenCall>>(new Map());
  const ask: Tool = async (_input, { callId }) => {
    const { promise, ...call } = Promise.withResolvers<unknown>();
    openCalls.value = new Map([...openCalls.value, [callId, call]]);
    return promise.finally(() => {
      openCalls.value = new Map([...openCalls.value].filter(([id]) => id !== callId));
    });
  };
  return { openCalls, tools: new Proxy<Record<string, Tool>>({}, { get: () => ask }) };
}

/** What was deleted last. */
interface Removed {
  id: string;
  name: string | undefined;
  /** Forgotten with it in this browser. */
  words: string | undefined;
}

/** Everything that panes read and do. */
export function createApp({ config, session, storage }: AppParts) {
  const wire = signal(emptyWireLog);
  const { openCalls, tools } = createManualTools();
  const recap = createRecap({
    baseUrl: config.chatUrl,
    getIdToken: session.token,
    storage: indexedDbStore(`recap-${session.uid}`),
    tools,
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      // What the service says to people is shown as it is.
      headers.set('accept-language', 'en');
      return fetch(url, { ...init, headers });
    },
    onWire: (event) => {
      wire.value = recordWire(wire.peek(), event);
    },
    timings: { watchMs: 400 },
  });
  const firstWords = createFirstWords(storage);
  const { problem, attempt } = createAttempts();

  const navigation = createNavigation((known) => {
    const chat = recap.chat(known);
    let hasBegun = known !== undefined;
    return openConversation({
      chat,
      isCut: computed(() => isCut(wire.value, chat.id)),
      onSend: (text) => {
        if (hasBegun) return;
        hasBegun = true;
        firstWords.note(chat.id, text);
        history.replaceState(null, '', `#/c/${chat.id}`);
      },
      onGone: leave,
    });
  });

  /** The open conversation is deleted: where it was deleted is the way back. */
  function leave(): void {
    navigation.startNew();
    navigation.pane.value = 'conversations';
  }

  /** Changes with every news of the lists. */
  const news = signal(0);
  const ofLists = <T>(read: () => T) =>
    computed(() => {
      void news.value;
      return read();
    });
  const list = signal<'active' | 'archived'>('active');
  const everyRow = ofLists(
    () =>
      new Map(
        (['active', 'archived', 'deleted'] as const).flatMap((name) =>
          recap.list(name).rows.map((row) => [row.id, row] as const),
        ),
      ),
  );
  const hear = (): void => {
    news.value += 1;
    if (everyRow.value.get(navigation.open.value.id)?.deleteTime !== undefined) leave();
  };
  recap.list('active').subscribe(hear);

  const isSeen = watchTranscript(navigation);
  effect(() => {
    const { id, chat, state } = navigation.open.value;
    const { lastSeq = 0, unreadCount = 0 } = everyRow.value.get(id) ?? {};
    const { messages, isAnswering, isLoaded } = state.value;
    if (unreadCount === 0 || !isSeen.value || isAnswering || !isLoaded) return;
    if (messages.some(({ seq = 0 }) => seq >= lastSeq)) void chat.markRead(lastSeq);
  });

  const nameOf = ({ id, title }: { id: string; title?: string | undefined }) =>
    everyRow.value.get(id)?.title ?? title ?? firstWords.of(id);
  const removed = signal<Removed | undefined>(undefined);

  return {
    wire,
    openCalls,
    conversations: {
      /** Which list is shown, and what it has. */
      list,
      rows: ofLists((): readonly Row[] => recap.list(list.value).rows),
      hasMore: ofLists(() => recap.list(list.value).hasMore),
      problem: ofLists(() => problem.value ?? recap.list(list.value).problem),
      /** undefined: it is over when the service is there again. */
      dismiss: ofLists(() => problem.value && (() => (problem.value = undefined))),
      /** What was deleted last, until it is taken back or dismissed. */
      removed,
      show: (name: 'active' | 'archived'): void => {
        list.value = name;
        // Known from now on.
        if (name === 'archived' && !recap.list(name).isLoaded) recap.list(name).subscribe(hear);
      },
      loadMore: () => attempt(() => recap.list(list.value).loadMore()),
      archive: (id: string, isArchived: boolean) =>
        attempt(() => recap.chat(id).archive(isArchived)),
      pin: (id: string, isPinned: boolean) => attempt(() => recap.chat(id).pin(isPinned)),
      /** Into the bin. */
      remove: (id: string) =>
        attempt(async () => {
          const last = { id, name: nameOf({ id }), words: firstWords.of(id) };
          await recap.chat(id).remove();
          firstWords.forget(id);
          removed.value = last;
        }),
      /** Out of the bin with what was deleted last, and shows it. */
      takeBack: ({ id, words }: Removed) =>
        attempt(async () => {
          await recap.chat(id).undelete();
          if (words !== undefined) firstWords.note(id, words);
          removed.value = undefined;
          navigation.select(id);
        }),
    },
    search: createSearch(recap, attempt),
    ...navigation,
    /** Whether what is said in a conversation is in view. */
    isInView: (id: string): boolean => isSeen.value && id === navigation.open.value.id,
    /** What a conversation is called: its title, else how it begins; undefined where neither is known. */
    nameOf,
  };
}

export type App = ReturnType<typeof createApp>;

/** What most of the page is about. */
export interface ConversationProps {
  app: App;
  conversation: OpenConversation;
}
