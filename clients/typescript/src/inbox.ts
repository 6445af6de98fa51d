import type { ConversationList, ListName, RecapStore, Row } from './api.ts';
import type { Entry, Outbox } from './chat/outbox.ts';
import { type RecapError, offline } from './http/error.ts';
import { keepReading } from './http/keep-reading.ts';
import type { Requester } from './http/requester.ts';
import type { Life } from './lib/life.ts';
import { type Saver, readKept } from './lib/saver.ts';
import { createTopic } from './lib/topic.ts';
import type { ConversationRow, UserEvent } from './wire/wire.ts';

const KEY = 'inbox';
const READ_PREFIX = 'read/';
/** Rows that are kept. */
const ROWS_KEPT = 100;
const PREVIEW_CHARACTERS = 120;
/** The same each time: whoever compares rows sees no change. */
const NO_ROWS: readonly Row[] = [];

interface Kept {
  rows: ConversationRow[];
  cursor: string | undefined;
}

export interface InboxParts {
  requester: Requester;
  life: Life;
  store: RecapStore;
  saver: Saver;
  outbox: Outbox;
  /** Resolves when nothing more is kept of what the event says is gone. */
  onEvent: (event: UserEvent) => Promise<void>;
}

const listOf = ({ deleteTime, archived }: Pick<Row, 'deleteTime' | 'archived'>): ListName =>
  deleteTime !== undefined ? 'deleted' : archived ? 'archived' : 'active';

const inOrder = (one: Row, other: Row): number =>
  Number(other.pinned) - Number(one.pinned) ||
  Date.parse(other.activeTime) - Date.parse(one.activeTime);

/** The row of a conversation that has messages which are not sent yet. */
function withPending(row: Row | undefined, id: string, pending: readonly Entry[]): Row {
  const last = pending.at(-1);
  const text = last?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  const preview = Array.from(text?.replace(/\s+/g, ' ').trim() ?? '').slice(0, PREVIEW_CHARACTERS);
  const time = last?.time ?? '';
  return {
    ...(row ?? {
      id,
      metadata: {},
      archived: false,
      pinned: false,
      state: 'idle',
      unreadCount: 0,
    }),
    activeTime: row && row.activeTime > time ? row.activeTime : time,
    lastMessage: { seq: (row?.lastSeq ?? 0) + 1, role: 'user', time, preview: preview.join('') },
    pendingCount: pending.length,
  };
}

/** The user's conversations: as they were kept, as the list tells, and as the events after it tell. */
export function createInbox(parts: InboxParts) {
  const { requester, life, store, saver, outbox, onEvent } = parts;
  const topic = createTopic();
  let rows: ReadonlyMap<string, ConversationRow> = new Map();
  let cursor: string | undefined;
  /** Where each list goes on; a list that is not named was not read, undefined: all of it is known. */
  let nextPages: ReadonlyMap<ListName, string | undefined> = new Map();
  /** What was seen here and the service may not know yet. */
  const seen = new Map<string, number>();
  let problem: RecapError | undefined;
  let isOtherUser = false;
  let shown = show();

  function toRow(row: ConversationRow): Row {
    const isSeen = (seen.get(row.id) ?? 0) >= row.lastSeq;
    return { ...row, ...(isSeen && { unreadCount: 0 }), pendingCount: 0 };
  }

  function show(): ReadonlyMap<ListName, readonly Row[]> {
    if (isOtherUser) return new Map();
    const all = new Map([...rows].map(([id, row]) => [id, toRow(row)]));
    for (const [id, pending] of outbox.waiting())
      all.set(id, withPending(all.get(id), id, pending));
    const lists = new Map<ListName, Row[]>();
    for (const row of [...all.values()].sort(inOrder))
      lists.set(listOf(row), [...(lists.get(listOf(row)) ?? []), row]);
    return lists;
  }

  function changed(): void {
    shown = show();
    topic.tell();
  }

  function keep(): void {
    if (isOtherUser) return;
    const newest = (shown.get('active') ?? []).slice(0, ROWS_KEPT);
    const kept: Kept = { rows: newest.flatMap(({ id }) => rows.get(id) ?? []), cursor };
    void saver.save(KEY, () => kept);
  }

  const setRows = (newer: readonly ConversationRow[]): void => {
    rows = new Map([...rows, ...newer.map((row) => [row.id, row] as const)]);
  };

  /** Reads the first page of a list, or the next one. */
  async function readPage(list: ListName, pageToken?: string): Promise<void> {
    const read = (query: Record<string, string | boolean | undefined>) =>
      requester.call<{ conversations: ConversationRow[]; nextPageToken?: string }>(
        'GET',
        '/v1/conversations',
        { query: { list, ...query } },
      );
    const [page, pinned] = await Promise.all([
      read({ pageToken }),
      // They stand before the others, however old they are.
      pageToken === undefined ? read({ pinned: true }) : undefined,
    ]);
    if (pageToken === undefined) {
      // What was kept and is not in it any more is gone.
      const last = page.nextPageToken === undefined ? undefined : page.conversations.at(-1);
      const isListed = (row: ConversationRow): boolean =>
        listOf(row) === list && row.activeTime >= (last?.activeTime ?? '');
      rows = new Map([...rows].filter(([, row]) => !isListed(row)));
    }
    setRows([...page.conversations, ...(pinned?.conversations ?? [])]);
    nextPages = new Map([...nextPages, [list, page.nextPageToken]]);
    problem = undefined;
    changed();
    keep();
  }

  let lastWork: Promise<unknown> = Promise.resolve();
  /** One after the other: an event that comes while a page is read may be newer than what the page has. */
  function inTurn(work: () => Promise<void> | void): Promise<void> {
    const done = lastWork.then(work);
    lastWork = done.catch(() => undefined);
    return done;
  }

  const wanted = new Set<ListName>();
  const readFirst = async (): Promise<void> => {
    for (const list of wanted) if (!nextPages.has(list)) await readPage(list);
  };

  async function apply(event: UserEvent): Promise<void> {
    switch (event.type) {
      case 'conversation': {
        setRows([event.conversation]);
        const { id, readSeq } = event.conversation;
        if (readSeq >= (seen.get(id) ?? Infinity)) forgetSeen(id);
        break;
      }
      case 'gone':
        rows = new Map([...rows].filter(([id]) => id !== event.conversationId));
        break;
      case 'ready':
        isReady = true;
        problem = undefined;
        await readFirst();
        break;
      case 'reset':
        isReady = true;
        rows = new Map();
        nextPages = new Map();
        await readFirst();
        break;
      case 'reconnect':
    }
    changed();
    await onEvent(event);
  }

  /** So many look at a list or a chat. */
  let users = 0;
  /** Ends the stream; undefined: there is none. */
  let listening: AbortController | undefined;
  /** Whether all that was missed has been told. */
  let isReady = false;

  /** Follows what changes; an event whose handling fails comes again. */
  const follow = (left: AbortSignal): Promise<void> =>
    keepReading({
      life,
      left,
      cursor: () => cursor,
      onProblem: fail,
      read: async (hold) => {
        isReady = false;
        const given = { query: { cursor }, signal: left };
        const stream = await requester.stream('GET', '/v1/users/me/events', given);
        hold(stream);
        let isFailed = false;
        const take = async (event: UserEvent, id: string | undefined): Promise<void> => {
          if (isFailed) return;
          try {
            await apply(event);
            cursor = id ?? cursor;
            keep();
          } catch (error) {
            isFailed = true;
            fail(error);
            stream.close();
          }
        };
        try {
          await stream.read(({ id, data }) => void inTurn(() => take(JSON.parse(data), id)));
        } finally {
          // What was told is handled before it is asked for what comes behind it.
          await lastWork;
        }
        return false;
      },
    });

  /** Opens the stream, or closes it, as it is wanted now. */
  function listen(): void {
    const isWanted = users > 0 && life.isActive;
    if (isWanted === (listening !== undefined)) return;
    listening?.abort();
    listening = isWanted ? new AbortController() : undefined;
    if (listening) void follow(listening.signal);
  }

  function fail(error: unknown): void {
    problem = offline(error);
    changed();
  }

  function forgetSeen(id: string): void {
    seen.delete(id);
    void saver.forget(READ_PREFIX + id);
  }

  const telling = new Set<string>();
  /** Tells the service what was seen, until it knows. */
  async function tellSeen(id: string): Promise<void> {
    if (telling.has(id)) return;
    telling.add(id);
    const tell = async (): Promise<void> => {
      for (let seq = seen.get(id); seq !== undefined; seq = seen.get(id)) {
        const path = `/v1/conversations/${id}:read`;
        const row = await requester.call<ConversationRow>('POST', path, { body: { seq } });
        if (rows.has(id)) setRows([row]);
        if (seen.get(id) === seq) forgetSeen(id);
        changed();
      }
    };
    await life.untilDone(tell).catch(() => forgetSeen(id));
    telling.delete(id);
  }

  async function load(): Promise<void> {
    const kept = await readKept<Kept>(store, KEY);
    if (kept) {
      rows = new Map([...kept.rows.map((row) => [row.id, row] as const), ...rows]);
      cursor ??= kept.cursor;
    }
    for (const key of await store.keys(READ_PREFIX)) {
      const seq = await readKept<number>(store, key);
      const id = key.slice(READ_PREFIX.length);
      if (seq === undefined || seen.has(id)) continue;
      seen.set(id, seq);
      void tellSeen(id);
    }
    changed();
  }
  const loaded = load().catch(() => undefined);

  const listView = (list: ListName): ConversationList => ({
    get rows() {
      return shown.get(list) ?? NO_ROWS;
    },
    get hasMore() {
      return nextPages.get(list) !== undefined;
    },
    get isLoaded() {
      return nextPages.has(list);
    },
    get problem() {
      return problem;
    },
    subscribe: (listener) => {
      wanted.add(list);
      const unsubscribe = topic.subscribe(() => listener(shown.get(list) ?? NO_ROWS));
      inbox.use();
      if (isReady) void inTurn(readFirst).catch(fail);
      let isSubscribed = true;
      return () => {
        unsubscribe();
        if (isSubscribed) inbox.release();
        isSubscribed = false;
      };
    },
    loadMore: () =>
      inTurn(async () => {
        const pageToken = nextPages.get(list);
        if (pageToken !== undefined) await readPage(list, pageToken);
      }),
  });

  const inbox = {
    listView,
    row: (id: string): ConversationRow | undefined => rows.get(id),
    entriesChanged: changed,
    /** The store is not that of the user who is signed in: nothing of it is shown. */
    onOtherUser: (): void => {
      isOtherUser = true;
      changed();
    },
    /** Begins to follow, while anybody uses it. */
    use: (): void => {
      users += 1;
      void loaded.then(listen);
    },
    release: (): void => {
      users -= 1;
      listen();
    },
    /** The app is in front again, or not any more. */
    activeChanged: listen,
    /** Shows a change at once, and takes it back where it is refused. Rejects with RecapError. */
    change: async (
      id: string,
      patch: Partial<Pick<ConversationRow, 'title' | 'archived' | 'pinned' | 'deleteTime'>>,
      work: () => Promise<unknown>,
    ): Promise<void> => {
      const before = rows.get(id);
      if (before) setRows([{ ...before, ...patch }]);
      changed();
      try {
        await work();
        keep();
      } catch (error) {
        const now = rows.get(id);
        const was: Record<string, unknown> = { ...before };
        const undone = Object.fromEntries(Object.keys(patch).map((field) => [field, was[field]]));
        if (now) setRows([{ ...now, ...undone }]);
        changed();
        throw offline(error);
      }
    },
    markRead: async (id: string, seq: number): Promise<void> => {
      const row = rows.get(id);
      if (seq <= Math.max(seen.get(id) ?? 0, row && row.unreadCount === 0 ? row.readSeq : -1))
        return;
      seen.set(id, seq);
      changed();
      await saver.save(READ_PREFIX + id, () => seq);
      void tellSeen(id);
    },
  };
  return inbox;
}

export type Inbox = ReturnType<typeof createInbox>;
