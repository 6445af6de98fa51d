import { batch, computed, signal } from '@preact/signals';
import type { InboxEntryView } from '#shared/wire/resources/inbox.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import type { ChatApi, ListQuery } from '../api/chat-api.ts';
import { createAttempts } from './attempts.ts';
import type { FirstWords } from './first-words.ts';

type ListName = ListQuery['list'];
type Rows = ReadonlyMap<string, InboxEntryView>;

interface Removed {
  id: string;
  name: string | undefined;
  /** Forgotten with it in this browser. */
  words: string | undefined;
}

const isIn = (list: ListName, { archived, deleteTime }: InboxEntryView): boolean =>
  deleteTime === undefined && archived === (list === 'archived');

/** The pinned ones first; of these and of the others the one with the newest message. */
const inOrder = (one: InboxEntryView, other: InboxEntryView): number =>
  Number(other.pinned) - Number(one.pinned) ||
  Date.parse(other.activeTime) - Date.parse(one.activeTime);

/** With rows in the place of what was known of their conversations. */
const withRows = (rows: Rows, newer: readonly InboxEntryView[]): Rows =>
  new Map([...rows, ...newer.map((row) => [row.id, row] as const)]);

/** The caller's conversations, as pages of the list and the events after them tell. */
export function createInbox(api: ChatApi, firstWords: FirstWords) {
  const rows = signal<Rows>(new Map());
  const list = signal<ListName>('active');
  /** Where older ones begin in the lists that were asked for; undefined: all are known. */
  const nextPages = signal<ReadonlyMap<ListName, string | undefined>>(new Map());
  const { problem, attempt, recover, fail } = createAttempts();
  const isOffline = computed(() => problem.value?.code === 0);
  const removed = signal<Removed | undefined>(undefined);

  /** Adds a page to what is known, or puts it in the place of all that. */
  async function load({
    pageToken,
    isAnew,
  }: { pageToken?: string | undefined; isAnew?: boolean } = {}) {
    const name = list.value;
    const [page, pinned] = await Promise.all([
      api.conversations({ list: name, pageToken }),
      // They stand before the others, however old they are.
      pageToken === undefined && api.conversations({ list: name, pinned: true }),
    ]);
    const newer = [...page.conversations, ...(pinned ? pinned.conversations : [])];
    batch(() => {
      rows.value = withRows(isAnew ? new Map() : rows.value, newer);
      nextPages.value = new Map([...nextPages.value, [name, page.nextPageToken]]);
    });
  }

  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: an event that comes while a page is read may be newer than what the page has. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  const loadFirst = async (): Promise<void> => {
    if (!nextPages.value.has(list.value)) await load();
  };

  const change = (id: string, now: Partial<InboxEntryView>): void => {
    const row = rows.value.get(id);
    if (row) rows.value = withRows(rows.value, [{ ...row, ...now }]);
  };

  /** Throws ApiError where a page cannot be read: then the event has changed nothing. */
  async function apply(event: UserEvent): Promise<void> {
    switch (event.type) {
      case 'conversation':
        rows.value = withRows(rows.value, [event.conversation]);
        return;
      case 'gone':
        rows.value = new Map([...rows.value].filter(([id]) => id !== event.conversationId));
        return;
      case 'ready':
        recover();
        return loadFirst();
      case 'reset':
        nextPages.value = new Map();
        return load({ isAnew: true });
      case 'reconnect':
    }
  }

  /** Whether it worked; what comes of it is shown at once, whether or not the events tell of it. */
  async function act(
    id: string,
    now: Partial<InboxEntryView>,
    work: () => Promise<unknown>,
  ): Promise<boolean> {
    const isDone = await attempt(() => work().then(() => true));
    if (isDone) change(id, now);
    return isDone ?? false;
  }

  return {
    rows,
    /** Which list is shown, and what it has. */
    list,
    entries: computed(() =>
      [...rows.value.values()].filter((row) => isIn(list.value, row)).toSorted(inOrder),
    ),
    hasMore: computed(() => nextPages.value.get(list.value) !== undefined),
    problem,
    attempt,
    fail,
    isOffline,
    /** What was deleted last, until it is taken back or dismissed. */
    removed,
    apply: (event: UserEvent) => inTurn(() => apply(event)),
    show: (name: ListName): void => {
      list.value = name;
      void attempt(() => inTurn(loadFirst));
    },
    loadMore: () =>
      attempt(() => inTurn(() => load({ pageToken: nextPages.value.get(list.value) }))),
    /** Without a network it stays unread: whoever sees it tries again when that is back. */
    markRead: async ({ id, lastSeq, readSeq, unreadCount }: InboxEntryView): Promise<void> => {
      change(id, { unreadCount: 0, readSeq: lastSeq });
      await attempt(() => api.conversation(id).markRead(lastSeq));
      if (isOffline.value) change(id, { unreadCount, readSeq });
    },
    /** Moves it in the list, or to the other one. */
    set: (id: string, now: { archived: boolean } | { pinned: boolean }) =>
      act(id, now, () => api.conversation(id).change(now, Object.keys(now).join())),
    /** Into the bin; resolves to whether it is gone. */
    remove: async (id: string): Promise<boolean> => {
      const words = firstWords.of(id);
      const name = rows.value.get(id)?.title ?? words;
      const deleteTime = new Date().toISOString();
      if (!(await act(id, { deleteTime }, api.conversation(id).remove))) return false;
      firstWords.forget(id);
      removed.value = { id, name, words };
      return true;
    },
    /** Out of the bin with what was deleted last; resolves to its id. */
    takeBack: async (): Promise<string | undefined> => {
      const taken = removed.value;
      if (!taken) return undefined;
      const { id, words } = taken;
      if (!(await act(id, { deleteTime: undefined }, api.conversation(id).undelete)))
        return undefined;
      if (words !== undefined) firstWords.note(id, words);
      removed.value = undefined;
      return id;
    },
  };
}
