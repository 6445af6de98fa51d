import type { Recap, RecapOptions, Timings } from './api.ts';
import { type OwnChat, createChat } from './chat/chat.ts';
import { createOutbox } from './chat/outbox.ts';
import { keptKey } from './chat/reading.ts';
import { createRequester } from './http/requester.ts';
import { createInbox } from './inbox.ts';
import { createLife } from './lib/life.ts';
import { createSaver, readKept } from './lib/saver.ts';
import { randomUuid } from './lib/uuid.ts';
import { createPush } from './push.ts';
import { memoryStore } from './storage/memory.ts';
import type { UserEvent } from './wire/wire.ts';

const TIMINGS: Timings = {
  silenceMs: 30_000,
  callMs: 30_000,
  backOffMs: [1_000, 2_000, 4_000, 8_000, 16_000, 30_000],
  watchMs: 2_000,
};

/** Chats that are kept, those that were opened last. */
const CHATS_KEPT = 50;
const CHATS_KEY = 'chats';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What is used of a browser, where there is one. */
interface Page {
  Date: unknown;
  document?: {
    readonly visibilityState: string;
    addEventListener(type: string, listener: () => void): void;
    removeEventListener(type: string, listener: () => void): void;
  };
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

/** Wakes the client when a page is shown, or has a network again. */
function watchBrowser(client: Pick<Recap, 'setActive'>, wake: () => void): () => void {
  const page: Page = globalThis;
  const show = (): void => client.setActive(page.document?.visibilityState !== 'hidden');
  page.document?.addEventListener('visibilitychange', show);
  page.addEventListener?.('online', wake);
  return () => {
    page.document?.removeEventListener('visibilitychange', show);
    page.removeEventListener?.('online', wake);
  };
}

/** The client of one signed-in user. */
export function createRecap(options: RecapOptions): Recap {
  if (!/^https?:\/\/./.test(options.baseUrl))
    throw new TypeError(
      `baseUrl is the address of the service, not ${JSON.stringify(options.baseUrl)}`,
    );
  const timings = { ...TIMINGS, ...options.timings };
  const store = options.storage ?? memoryStore();
  const life = createLife(timings);
  const saver = createSaver(store);
  let isOtherUser = false;
  const requester = createRequester({
    options,
    timings,
    store,
    closed: life.closed,
    onOtherUser: (error) => {
      isOtherUser = true;
      outbox.onOtherUser(error);
      inbox.onOtherUser();
      for (const chat of chats.values()) chat.hide();
    },
  });
  const draw = options.randomUUID ?? randomUuid;
  const chats = new Map<string, OwnChat>();

  const outbox = createOutbox({
    store,
    saver,
    requester,
    life,
    onChange: (conversationId) => {
      chats.get(conversationId)?.changed();
      inbox.entriesChanged();
    },
    onTaken: (entry, stream) => chatOf(entry.conversationId).taken(entry, stream),
  });

  let keptChats: string[] = [];
  const keptLoaded = readKept<string[]>(store, CHATS_KEY).then((ids = []) => {
    keptChats = [...ids, ...keptChats];
  });
  /** The chats that are kept, the one that was opened last behind. */
  async function noteOpened(id: string): Promise<void> {
    await keptLoaded;
    const others = keptChats.filter((each) => each !== id);
    for (const old of others.slice(0, -(CHATS_KEPT - 1))) void saver.forget(keptKey(old));
    keptChats = [...others.slice(-(CHATS_KEPT - 1)), id];
    void saver.save(CHATS_KEY, () => keptChats);
  }

  async function forgetChats(): Promise<void> {
    await keptLoaded;
    for (const id of keptChats) if (!chats.get(id)?.isOpen()) await saver.forget(keptKey(id));
  }

  async function onEvent(event: UserEvent): Promise<void> {
    if (event.type === 'conversation') {
      const { id } = event.conversation;
      // What was erased is erased from what is kept, too, of a chat that was not opened yet.
      await (event.erased ? chatOf(id) : chats.get(id))?.hear(event);
    }
    if (event.type === 'gone') await chatOf(event.conversationId).gone();
    if (event.type !== 'reset') return;
    await forgetChats();
    for (const chat of chats.values())
      if (chat.isOpen()) void chat.refresh().catch(() => undefined);
  }

  const inbox = createInbox({ requester, life, store, saver, outbox, onEvent });

  function chatOf(id: string, isNew = false): OwnChat {
    const known = chats.get(id);
    if (known) return known;
    const onOpen = (): void => void noteOpened(id);
    const chat = createChat({
      id,
      isNew,
      options,
      timings,
      requester,
      life,
      store,
      saver,
      outbox,
      inbox,
      onOpen,
    });
    chats.set(id, chat);
    if (isOtherUser) chat.hide();
    return chat;
  }

  const recap: Recap = {
    conversations: inbox.listView('active'),
    list: inbox.listView,
    chat: (id) => {
      if (id === undefined) return chatOf(draw(), true);
      if (!UUID.test(id))
        throw new TypeError(`The id of a chat is a UUID, not ${JSON.stringify(id)}`);
      return chatOf(id.toLowerCase());
    },
    search: (q, pageToken) =>
      requester.call('GET', '/v1/users/me/search', { query: { q, pageToken } }),
    claim: async (guestToken, guestStore) => {
      const claimed = await requester.call<{ conversations: number }>(
        'POST',
        '/v1/users/me:claim',
        {
          body: { guestToken },
        },
      );
      if (guestStore) await outbox.takeOver(guestStore);
      return claimed;
    },
    push: createPush(store, requester.call, draw),
    fileUrl: async (uploadId) =>
      (await requester.call<{ url: string }>('GET', `/v1/uploads/${uploadId}`)).url,
    setActive: (isActive) => {
      life.setActive(isActive);
      inbox.activeChanged();
    },
    now: () => new Date(requester.nowMs()),
    call: requester.call,
    close: () => {
      stopWatching();
      life.close();
    },
  };
  const stopWatching = watchBrowser(recap, life.wake);
  return recap;
}
