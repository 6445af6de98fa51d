import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { createChatApi, type ChatApi } from '../api/chat-api.ts';
import { createRequester } from '../api/requester.ts';
import type { PageConfig, Session } from '../api/session.ts';
import type { Texts } from '../text/en.ts';
import { createFigures, type Figures } from '../text/figures.ts';
import { selectTexts, type Language } from '../text/languages.ts';
import { createConversationList, type ConversationList } from './conversation-list.ts';
import { openConversation, type OpenConversation } from './conversation.ts';
import { createFirstWords } from './answer/first-words.ts';
import { createOutbox } from './answer/outbox.ts';
import { createRemoval, type Removed } from './removal.ts';
import { createSettings, type Settings } from './settings.ts';
import { createWire, type Wire } from './wire.ts';

export type PaneName = 'conversations' | 'transcript' | 'inspector' | 'events';

/** Everything that panes read and do. */
export interface App {
  config: PageConfig;
  api: ChatApi;
  /** What goes over it. */
  wire: Wire;
  settings: Settings;
  texts: ReadonlySignal<Texts>;
  figures: ReadonlySignal<Figures>;
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
  /** What was deleted last, until it is taken back or dismissed. */
  removed: Signal<Removed | undefined>;
  /** Brings that back and shows it. */
  takeBack(): Promise<void>;
}

interface AppParts {
  config: PageConfig;
  session: Session;
  storage: Pick<Storage, 'getItem' | 'setItem'>;
  language: Language;
}

const idOfAddress = (): string | undefined => /^#\/c\/([\w-]+)$/.exec(location.hash)?.[1];

function createApi({ config, session }: AppParts, settings: Settings, wire: Wire): ChatApi {
  return createChatApi(
    createRequester({
      chatUrl: config.chatUrl,
      session,
      language: () => settings.language.value,
      observe: wire.observe,
      fetch: fetch.bind(globalThis),
    }),
  );
}

export function createApp(parts: AppParts): App {
  const settings = createSettings(parts.storage, parts.language);
  const wire = createWire();
  const api = createApi(parts, settings, wire);
  const outbox = createOutbox(parts.storage);
  const firstWords = createFirstWords(parts.storage);
  const conversations = createConversationList(api);
  const removal = createRemoval(conversations, firstWords);
  const detail = signal<number | undefined>(undefined);
  const pane = signal<PaneName>('transcript');

  /** A conversation of the list or of an address; without an id a new one. */
  const begin = (known?: string): OpenConversation => {
    const id = known ?? crypto.randomUUID();
    return openConversation({
      id,
      isNew: known === undefined,
      api: api.conversation(id),
      outbox,
      locale: () => settings.language.value,
      onBegin: (text) => {
        firstWords.note(id, text);
        history.replaceState(null, '', `#/c/${id}`);
      },
      onChange: () => void conversations.refresh(),
    });
  };
  const open = signal(begin(idOfAddress()));

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

  return {
    config: parts.config,
    api,
    wire,
    settings,
    texts: computed(() => selectTexts(settings.language.value)),
    figures: computed(() => createFigures(settings.language.value)),
    conversations,
    open,
    pane,
    detail,
    nameOf: ({ id, title }) => title ?? firstWords.of(id),
    select,
    startNew,
    removed: removal.removed,
    remove: async (id) => {
      if (!(await removal.remove(id)) || id !== open.value.id) return;
      startNew();
      // Where it was deleted is the way back.
      pane.value = 'conversations';
    },
    takeBack: async () => void (await removal.takeBack().then((id) => id && select(id))),
  };
}
