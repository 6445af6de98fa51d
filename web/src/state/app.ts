import { batch, computed, effect, signal } from '@preact/signals';
import { createChatApi } from '../api/chat-api.ts';
import { createRequester } from '#web/api/requester.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import type { PageConfig, Session } from '../api/session.ts';
import { createFirstWords } from './first-words.ts';
import { createInbox } from './inbox.ts';
import { openConversation, type OpenConversation } from './conversation.ts';
import { isOpen } from './live-turn.ts';
import { createSearch } from './search.ts';
import { followUser } from './user-events.ts';
import { emptyWireLog, recordWire } from './wire-log.ts';

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
    open.value.target.value = seq;
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

/** Everything that panes read and do. */
export function createApp({ config, session, storage }: AppParts) {
  const wire = signal(emptyWireLog);
  const requester = createRequester({
    chatUrl: config.chatUrl,
    session,
    observe: (event) => {
      wire.value = recordWire(wire.peek(), event);
    },
    fetch: fetch.bind(globalThis),
  });
  const api = createChatApi(requester);
  const firstWords = createFirstWords(storage);
  const conversations = createInbox(api, firstWords);

  const navigation = createNavigation((known) => {
    const id = known ?? crypto.randomUUID();
    return openConversation({
      id,
      isNew: known === undefined,
      api: api.conversation(id),
      onBegin: (text) => {
        firstWords.note(id, text);
        history.replaceState(null, '', `#/c/${id}`);
      },
    });
  });

  const isSeen = watchTranscript(navigation);
  effect(() => {
    const { id, transcript, answers } = navigation.open.value;
    const row = conversations.rows.value.get(id);
    if (!row || row.unreadCount === 0 || !isSeen.value || conversations.isOffline.value) return;
    const isShown = transcript.turnCount.value >= row.lastSeq && !answers.live.value.some(isOpen);
    if (isShown) void conversations.markRead(row);
  });

  /** The open conversation is deleted: where it was deleted is the way back. */
  function leave(): void {
    navigation.startNew();
    navigation.pane.value = 'conversations';
  }

  /** Rejects where the list could not be read. */
  async function handle(event: UserEvent): Promise<void> {
    await conversations.apply(event);
    const open = navigation.open.value;
    if (event.type === 'ready') void open.look();
    if (event.type === 'gone' && event.conversationId === open.id) leave();
    if (event.type !== 'conversation' || event.conversation.id !== open.id) return;
    if (event.conversation.deleteTime === undefined) open.hear(event);
    else leave();
  }

  return {
    wire,
    conversations,
    search: createSearch(api, conversations.attempt),
    ...navigation,
    follow: () => followUser({ api, handle, onProblem: conversations.fail }),
    /** Whether what is said in a conversation is in view. */
    isInView: (id: string): boolean => isSeen.value && id === navigation.open.value.id,
    /** What a conversation is called: its title, else how it begins; undefined where neither is known. */
    nameOf: ({ id, title }: { id: string; title?: string | undefined }) =>
      conversations.rows.value.get(id)?.title ?? title ?? firstWords.of(id),
    remove: async (id: string): Promise<void> => {
      if ((await conversations.remove(id)) && id === navigation.open.value.id) leave();
    },
    /** Brings back what was deleted last, and shows it. */
    takeBack: async (): Promise<void> => {
      const id = await conversations.takeBack();
      if (id !== undefined) navigation.select(id);
    },
  };
}

export type App = ReturnType<typeof createApp>;

/** What most of the page is about. */
export interface ConversationProps {
  app: App;
  conversation: OpenConversation;
}
