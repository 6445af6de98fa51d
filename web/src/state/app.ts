import { batch, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { createChatApi } from '../api/chat-api.ts';
import { createRequester } from '#web/api/requester.ts';
import type { PageConfig, Session } from '../api/session.ts';
import { createFirstWords } from './browser-memory.ts';
import { createConversationList, type ConversationList } from './conversation-list.ts';
import { openConversation, type OpenConversation } from './conversation.ts';
import { emptyWireLog, recordWire, type WireLog } from './wire-log.ts';

export type PaneName = 'conversations' | 'transcript' | 'context' | 'events';

/** Everything that panes read and do. */
export interface App {
  /** What goes over the wire between the page and the service. */
  wire: ReadonlySignal<WireLog>;
  conversations: ConversationList;
  open: Signal<OpenConversation>;
  /** On narrow screens one pane is shown. */
  pane: Signal<PaneName>;
  /** The generation whose compaction is shown in detail. */
  detail: Signal<number | undefined>;
  /** What a conversation is called: its title, else how it begins; undefined where neither is known. */
  nameOf(conversation: { id: string; title?: string | undefined }): string | undefined;
  select(id: string): void;
  startNew(): void;
  remove(id: string): Promise<void>;
  /** Brings back what was deleted last, and shows it. */
  takeBack(): Promise<void>;
}

/** What most of the page is about. */
export interface ConversationProps {
  app: App;
  conversation: OpenConversation;
}

interface AppParts {
  config: PageConfig;
  session: Session;
  storage: Pick<Storage, 'getItem' | 'setItem'>;
}

const idOfAddress = (): string | undefined => /^#\/c\/([\w-]+)$/.exec(location.hash)?.[1];

/** The conversation that is open, in step with the address; `begin` opens one, without an id a new one. */
function createNavigation(begin: (id: string | undefined) => OpenConversation) {
  const open = signal(begin(idOfAddress()));
  const detail = signal<number | undefined>(undefined);
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

  function select(id: string): void {
    show(id);
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

export function createApp({ config, session, storage }: AppParts): App {
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
  const conversations = createConversationList(api, firstWords);

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
      onChange: () => void conversations.refresh(),
    });
  });

  return {
    wire,
    conversations,
    ...navigation,
    nameOf: ({ id, title }) => title ?? firstWords.of(id),
    remove: async (id) => {
      if (!(await conversations.remove(id)) || id !== navigation.open.value.id) return;
      navigation.startNew();
      // Where it was deleted is the way back.
      navigation.pane.value = 'conversations';
    },
    takeBack: async () => {
      const id = await conversations.takeBack();
      if (id !== undefined) navigation.select(id);
    },
  };
}
