import type {
  CallInput,
  ChatState,
  Message,
  Method,
  RecapOptions,
  RecapStore,
  Timings,
} from '../api.ts';
import { type RecapError, offline } from '../http/error.ts';
import type { EventStream, Requester } from '../http/requester.ts';
import type { Inbox } from '../inbox.ts';
import type { Life } from '../lib/life.ts';
import { type Saver, readKept } from '../lib/saver.ts';
import { createTopic } from '../lib/topic.ts';
import type { ContextObject, StoredMessage, StreamChunk, UserEvent } from '../wire/wire.ts';
import { watchPaceMs } from './context.ts';
import { followAnswer } from './follow.ts';
import { type LiveAnswer, newAnswer } from './messages.ts';
import type { Entry, Outbox } from './outbox.ts';
import { runTools } from './tools.ts';
import {
  type StoredTurn,
  type Turns,
  bounded,
  firstSeq,
  lastSeq,
  messagesOf,
  openSeqs,
  runningSeqs,
  showMessages,
  toTurns,
  waitingSeqs,
  withTurns,
} from './transcript.ts';

/** Messages that are read at once when a chat opens, and that are kept. */
const NEWEST_MESSAGES = 50;
/** Of a page of the API. */
const PAGE_MESSAGES = 100;
/** Turns in memory; what is dropped at the other end is read again when it is scrolled to. */
const TURNS_MAX = 1_000;
/** Who has missed more turns begins anew from the newest. */
const CATCH_UP_TURNS_MAX = 100;
/** Turns on each side of one that is jumped to. */
const AROUND_TURNS = 12;

export interface ChatParts {
  id: string;
  /** It begins with its first message: until then there is nothing to read. */
  isNew: boolean;
  options: RecapOptions;
  timings: Timings;
  requester: Requester;
  life: Life;
  store: RecapStore;
  saver: Saver;
  outbox: Outbox;
  inbox: Inbox;
  /** It is looked at: of the chats that are kept it is the last to be forgotten. */
  onOpen: () => void;
}

/** What is kept of a chat. */
interface Kept {
  messages: StoredMessage[];
  title?: string | undefined;
  context?: ContextObject | undefined;
  erasedCount: number;
  /** Answers as they were streamed, whose stored messages were not read yet. */
  live?: [number, LiveAnswer][];
}

type ConversationEvent = Extract<UserEvent, { type: 'conversation' }>;

const isUnfinished = ({ state }: Pick<Message, 'state'>): boolean =>
  state === 'queued' || state === 'running';

export const keptKey = (id: string): string => `chat/${id}`;

/** What is shown of a conversation: kept, read, and followed while somebody looks. */
export function createReading(parts: ChatParts) {
  const { id, requester, life, store, saver, outbox, inbox, options } = parts;
  const base = `/v1/conversations/${id}`;
  const topic = createTopic();

  let turns: Turns = new Map();
  const live = new Map<number, LiveAnswer>();
  /** Replies that began a turn and are not read yet. */
  const begun = new Map<number, EventStream>();
  let title: string | undefined;
  let context: ContextObject | undefined;
  let erasedCount = 0;
  let hasBegun = !parts.isNew;
  let isLoaded = false;
  let hasNewer = false;
  let isHidden = false;
  let problem: RecapError | undefined;
  /** Fires when nobody looks any more; undefined while nobody does. */
  let looking: AbortController | undefined;
  /** The turn whose stream is read. */
  let followed: number | undefined;
  let isFollowing = false;
  let state = show();

  function show(): ChatState {
    const { progressOf } = outbox;
    const entries = outbox.of(id);
    const shown = showMessages({ turns, live, entries, progressOf });
    return {
      ...shown,
      title,
      context,
      hasOlder: firstSeq(turns) > 1,
      hasNewer,
      isLoaded,
      isAnswering: shown.messages.some(isUnfinished),
      problem,
    };
  }

  function changed(): void {
    state = show();
    topic.tell();
  }

  function fail(error: unknown): void {
    problem = offline(error);
    changed();
  }

  function keep(): void {
    // What is kept is shown without a connection: the newest.
    if (hasNewer || isHidden) return;
    const messages = messagesOf(turns).slice(-NEWEST_MESSAGES);
    const kept: Kept = { messages, title, context, erasedCount, live: [...live] };
    void saver.save(keptKey(id), () => kept);
  }

  const call = <Reply>(method: Method, path: string, given?: CallInput): Promise<Reply> =>
    requester.call(method, `${base}${path}`, given);

  const readPage = async (query: CallInput['query']): Promise<StoredMessage[]> =>
    (await call<{ messages: StoredMessage[] }>('GET', '/messages', { query })).messages;

  /** The turns from `from` to `upTo`; as many as a page has, at most. */
  async function readTurns(from: number, upTo: number): Promise<Turns> {
    const pageSize = Math.min(PAGE_MESSAGES, 2 * (upTo - from + 1));
    const messages = await readPage({ afterSeq: from - 1, pageSize });
    return toTurns(messages.filter(({ seq }) => seq <= upTo));
  }

  async function mergeTurns(from: number, upTo: number): Promise<void> {
    turns = new Map([...turns, ...(await readTurns(from, upTo))]);
  }

  async function readNewest(): Promise<void> {
    const read = toTurns(await readPage({ order: 'desc', pageSize: NEWEST_MESSAGES }));
    // The oldest of a page may be an answer without its question.
    turns = new Map([...read].filter(([seq, { user }]) => user ?? seq > firstSeq(read)));
    hasNewer = false;
  }

  /** Reads what came, or may have changed, since it was read. */
  async function readChanges(): Promise<void> {
    const known = lastSeq(turns);
    const newest = Math.max(inbox.row(id)?.lastSeq ?? 0, ...begun.keys());
    if (newest - known > CATCH_UP_TURNS_MAX) return readNewest();
    // The last turn may have been answered once more.
    const first = openSeqs(turns)[0] ?? Math.max(1, known);
    // So were older ones that were asked for again; one that is not shown is read with its page.
    for (const seq of live.keys())
      if (!turns.has(seq) && seq < first) live.delete(seq);
      else if (seq < first) await mergeTurns(seq, seq);
    for (let from = first; ; from = lastSeq(turns) + 1) {
      const read = await readTurns(from, from + PAGE_MESSAGES / 2 - 1);
      turns = bounded(withTurns(turns, read), TURNS_MAX, 'oldest');
      if (lastSeq(read) < from + PAGE_MESSAGES / 2 - 1) return;
    }
  }

  /** Forgets what was streamed before the messages were read that tell more, and entries whose answer ended well. */
  function settle(before: ReadonlyMap<number, LiveAnswer>): void {
    const unfinished = openSeqs(turns);
    const isOver = (seq: number): boolean => turns.has(seq) && !unfinished.includes(seq);
    for (const [seq, answer] of before)
      if (isOver(seq) && seq !== followed && live.get(seq) === answer) live.delete(seq);
    for (const { id: messageId, state: sent, seq = 0 } of outbox.of(id)) {
      const isWell = isOver(seq) && turns.get(seq)?.user?.state !== 'failed';
      if (sent === 'taken' && isWell) void outbox.drop(messageId);
    }
  }

  const callsRun = new Set<string>();
  /** Runs what the model asks of the app, on the device that sent the message. */
  async function runCalls({ seq, user, answer }: StoredTurn): Promise<void> {
    if (outbox.find(user?.id ?? '')?.state !== 'taken') return;
    const calls = (answer?.openCalls ?? []).filter(
      ({ wants, callId }) => wants === 'output' && !callsRun.has(callId),
    );
    if (calls.length === 0) return;
    for (const { callId } of calls) callsRun.add(callId);
    const results = await runTools(options.tools ?? {}, id, calls);
    await giveResults(seq, results).catch(fail);
  }

  /** Sends results until they are taken. */
  const giveResults = (seq: number, results: readonly object[]): Promise<void> =>
    life.untilDone(async () => {
      const path = `${base}/turns/t_${seq}/toolResults`;
      // Its stream goes on where the turn's did: it is read there.
      (await requester.stream('POST', path, { body: { results } })).close();
      await refresh();
    });

  async function readAbout(): Promise<void> {
    const before = { title, context };
    const read = await call<Pick<Kept, 'title' | 'context'>>('GET', '');
    // What an answer has told meanwhile is newer.
    if (title === before.title) ({ title } = read);
    if (context === before.context) ({ context } = read);
  }

  async function readAll(): Promise<void> {
    if (!hasBegun) {
      isLoaded = true;
      return;
    }
    const before = new Map(live);
    try {
      if (!isLoaded) await readNewest();
      else if (!hasNewer) await readChanges();
      settle(before);
      for (const seq of waitingSeqs(turns)) void runCalls(turns.get(seq) ?? { seq });
      await readAbout();
    } catch (error) {
      // It begins with its first message.
      if (offline(error).reason !== 'CONVERSATION_NOT_FOUND') throw error;
      turns = new Map();
    }
    isLoaded = true;
    keep();
  }

  let lastRead: Promise<unknown> = Promise.resolve();
  /** One after the other: what is read later is newer. Rejects with RecapError. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = lastRead.then(work).then(
      () => {
        problem = undefined;
        changed();
      },
      (error: unknown) => {
        fail(error);
        throw offline(error);
      },
    );
    lastRead = done.catch(() => undefined);
    return done;
  }

  /** Reads what may have changed, and follows what is being answered. */
  const refresh = async (): Promise<void> => {
    await inTurn(readAll);
    void follow();
  };

  /** Reads until it works; what is final is the `problem`. */
  const readUntilDone = (left: AbortSignal): Promise<void> =>
    life.untilDone(() => inTurn(readAll), left).catch(() => undefined);

  function takeChunk(chunk: StreamChunk): void {
    if (chunk.type === 'data-context') context = chunk.data;
    if (chunk.type === 'data-title') title = chunk.data.title ?? title;
  }

  /** Turns that are being answered, or wait to be, as the messages say or as their streams do. */
  const unfinishedSeqs = (): number[] => {
    const liveSeqs = [...live].flatMap(([seq, answer]) => (isUnfinished(answer) ? [seq] : []));
    return [...new Set([...runningSeqs(turns), ...liveSeqs])].sort((one, other) => one - other);
  };

  /** Follows one answer after the other, while somebody looks. */
  async function follow(): Promise<void> {
    const left = looking?.signal;
    if (!left || isFollowing || hasNewer) return;
    isFollowing = true;
    let last: number | undefined;
    let looks = 0;
    for (
      let [seq] = unfinishedSeqs();
      seq !== undefined && !left.aborted;
      [seq] = unfinishedSeqs()
    ) {
      // One that is still running behind the end of its stream is looked at again, but not at once.
      looks = last === seq ? looks + 1 : 0;
      last = seq;
      if (looks > 0) await life.pauseAfter({}, looks);
      const turn = seq;
      followed = turn;
      const first = begun.get(turn);
      begun.delete(turn);
      await followAnswer({
        requester,
        life,
        conversationId: id,
        seq: turn,
        first,
        get: () => live.get(turn) ?? newAnswer('queued'),
        set: (answer) => void live.set(turn, answer),
        onChunk: (chunk) => {
          takeChunk(chunk);
          changed();
        },
        left,
      });
      followed = undefined;
      keep();
      if (!left.aborted) await readUntilDone(left);
    }
    isFollowing = false;
    // Somebody came back meanwhile.
    if (left.aborted) return follow();
    watchContext();
  }

  let watcher: ReturnType<typeof setTimeout> | undefined;
  let movedAt = 0;
  /** Looks again while a compaction is on its way: no stream tells of its end. */
  function watchContext(): void {
    clearTimeout(watcher);
    const paceMs = watchPaceMs(context, Date.now() - movedAt, parts.timings.watchMs);
    if (!looking || paceMs === undefined) return;
    const before = JSON.stringify(context);
    const look = async (): Promise<void> => {
      await readAbout();
      if (JSON.stringify(context) === before) return;
      movedAt = Date.now();
      changed();
      keep();
    };
    watcher = setTimeout(
      () =>
        void look()
          .catch(() => undefined)
          .then(watchContext),
      paceMs,
    );
  }

  async function open(left: AbortSignal): Promise<void> {
    movedAt = Date.now();
    await outbox.loaded;
    const kept = isLoaded ? undefined : await readKept<Kept>(store, keptKey(id));
    if (kept && turns.size === 0 && !isHidden) {
      turns = toTurns(kept.messages);
      ({ title, context, erasedCount } = kept);
      for (const [seq, answer] of kept.live ?? []) live.set(seq, answer);
    }
    changed();
    parts.onOpen();
    await readUntilDone(left);
    void follow().then(watchContext);
  }

  function leave(): void {
    looking?.abort();
    looking = undefined;
    for (const stream of begun.values()) stream.close();
    begun.clear();
    clearTimeout(watcher);
    // An app may open any number of chats: of one that is closed as much stays as is kept.
    turns = hasNewer ? new Map() : bounded(turns, NEWEST_MESSAGES / 2, 'oldest');
    isLoaded &&= !hasNewer;
    hasNewer = false;
  }
  life.closed.addEventListener('abort', leave);

  /** Reads turns again of which something was erased. */
  async function readErased({ count, seqs }: NonNullable<ConversationEvent['erased']>) {
    const newCount = count - erasedCount;
    if (newCount <= 0) return;
    if (newCount > seqs.length) {
      isLoaded = false;
      await refresh();
    } else {
      for (const seq of seqs.slice(-newCount)) if (turns.has(seq)) await readAgain(seq);
    }
    erasedCount = count;
  }

  /** What is kept has something that was erased: it is forgotten, until it is read again. */
  async function forgetErased(count: number): Promise<void> {
    const kept = isLoaded ? undefined : await readKept<Kept>(store, keptKey(id));
    if (count <= (isLoaded ? erasedCount : (kept?.erasedCount ?? count))) return;
    if (looking) return saver.forget(keptKey(id));
    isLoaded = false;
    await gone();
  }

  /** Nothing is left of it. */
  function gone(): Promise<void> {
    turns = new Map();
    live.clear();
    title = context = undefined;
    changed();
    return saver.forget(keptKey(id));
  }

  const readAgain = (seq: number): Promise<void> =>
    inTurn(async () => {
      await mergeTurns(seq, seq);
      keep();
    });

  const loadOlder = async (count = 30): Promise<boolean> => {
    await inTurn(async () => {
      const first = firstSeq(turns);
      if (first <= 1) return;
      const older = await readTurns(Math.max(1, first - Math.ceil(count / 2)), first - 1);
      const all = withTurns(turns, older);
      turns = bounded(all, TURNS_MAX, 'newest');
      hasNewer ||= turns.size < all.size;
    });
    return state.hasOlder;
  };

  const loadNewer = async (count = 30): Promise<boolean> => {
    await inTurn(async () => {
      if (!hasNewer) return;
      const from = lastSeq(turns) + 1;
      const upTo = from + Math.ceil(count / 2) - 1;
      const newer = await readTurns(from, upTo);
      turns = bounded(withTurns(turns, newer), TURNS_MAX, 'oldest');
      hasNewer = newer.has(upTo);
    });
    void follow();
    return hasNewer;
  };

  const loadAround = (seq: number): Promise<void> =>
    inTurn(async () => {
      const upTo = seq + AROUND_TURNS;
      turns = await readTurns(Math.max(1, seq - AROUND_TURNS), upTo);
      hasNewer = turns.has(upTo);
      isLoaded = true;
    });

  return {
    get state() {
      return state;
    },
    isOpen: (): boolean => looking !== undefined,
    subscribe: (listener: () => void): (() => void) => {
      const unsubscribe = topic.subscribe(listener);
      if (!looking) {
        looking = new AbortController();
        inbox.use();
        void open(looking.signal);
      }
      return () => {
        unsubscribe();
        if (topic.hasListeners || !looking) return;
        leave();
        inbox.release();
      };
    },
    call,
    changed,
    refresh,
    readAgain,
    giveResults,
    loadOlder,
    loadNewer,
    loadAround,
    setTitle: (now: string): void => {
      title = now;
      changed();
    },
    /** A compaction was asked for. */
    watchCompaction: async (): Promise<void> => {
      await readAbout();
      movedAt = Date.now();
      changed();
      watchContext();
    },
    /** Shows the newest messages, where older ones are shown. Rejects with RecapError. */
    loadNewest: async (): Promise<void> => {
      if (!hasNewer) return;
      isLoaded = false;
      await refresh();
    },
    /** An answer is asked for again. */
    forgetAnswer: (seq: number): void => void live.delete(seq),
    /** The turn that is being answered, or waits to be. */
    unfinishedSeq: (): number | undefined =>
      unfinishedSeqs()[0] ?? waitingSeqs(turns)[0] ?? followed,
    /** The service has a message: whoever looks reads its answer, one after the other. */
    taken: ({ seq = 0 }: Entry, stream: EventStream): void => {
      hasBegun = true;
      live.set(seq, newAnswer('queued'));
      if (looking && !isFollowing) begun.set(seq, stream);
      else stream.close();
      changed();
      void follow();
    },
    /** Its row has changed, perhaps by another device. Resolves when nothing is kept that was erased. */
    hear: async ({ conversation: row, erased }: ConversationEvent): Promise<void> => {
      hasBegun = true;
      if (erased) await forgetErased(erased.count);
      if (!looking) return;
      title = row.title ?? title;
      changed();
      const { signal } = looking;
      if (erased) void life.untilDone(() => readErased(erased), signal).catch(() => undefined);
      const last = turns.get(lastSeq(turns));
      const lastState = last?.user?.state === 'failed' ? 'failed' : 'idle';
      const isKnown = row.lastSeq <= (last?.seq ?? 0) && row.state === lastState;
      // The end of what is followed is read anyway.
      if (isLoaded && !isFollowing && !isKnown) void readUntilDone(signal).then(follow);
    },
    gone,
    /** Shows nothing of what is kept: it is another user's. */
    hide: (): void => {
      isHidden = true;
      turns = new Map();
      live.clear();
      title = context = undefined;
      changed();
    },
  };
}

export type Reading = ReturnType<typeof createReading>;
